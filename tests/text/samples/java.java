// Shapes — drawn as ▲ and 😀.
package org.example.shapes;

import java.util.List;
import java.util.concurrent.*;
import static org.example.Tools.clamp;

/**
 * A closed figure.
 */
@Entity(name = "shape")
public abstract class Shape<T> extends Figure<T> implements Drawable, geo.Placed {
    public static final int MAX_SIDES = 64;
    private List<Side> sides, corners;

    public Shape(String name) {
        super(name);
    }

    /** The area, in square units. */
    @Override
    public double area(Scale scale) throws DrawException {
        int local = clamp(1);
        return Math.sqrt(this.measure(scale)) + new Circle<Side>().radius;
    }

    abstract void rotate(Angle angle);

    interface Visitor extends Closeable {
        void visit(Shape<?> shape);
    }

    enum Colour implements Named {
        RED, GREEN;

        boolean warm() { return this == RED; }
    }
}

record Point(int x, int y) implements Placed {}

@interface Entity {
    String name() default "";
}
