// Shapes — drawn as ▲ and 😀.
package org.example.shapes

import java.util.UUID
import scala.collection.mutable.{Buffer, Map => MutableMap}
import org.example.colours._

/** A closed figure. */
abstract class Shape[T](val name: String, size: Int) extends Figure[T](name) with Drawable {
  private var sides: List[Side] = Nil
  val unit = "cm"

  // The area, in square units.
  override def area(scale: Scale): Double = {
    val local = clamp(1)
    this.measure(scale) * Tools.sqrt(local).value
  }

  def rotate(angle: Angle): Unit
}

trait Drawable extends Named {
  type Canvas
  def draw(canvas: Canvas): Unit
}

object Shape {
  val MaxSides = 64
  def apply(path: String): Shape[Side] = new Circle(path)
}

case class Point(x: Int, y: Int)

enum Colour {
  case Red, Green
}

type Pair = (Point, Point)

given ordering: Ordering[Point] = Ordering.by(_.x)

/** Draws all shapes. */
def draw(shapes: Seq[Point])(using Context): Unit = shapes.foreach(place)
