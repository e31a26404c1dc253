// Shapes — drawn as ▲ and 😀.
package org.example.shapes

import java.util.UUID
import kotlin.math.*
import org.example.Pen as Stylus

const val MAX_SIDES = 64
val origin: Point = Point(0, 0)
typealias Pair = List<Point>

/**
 * A closed figure.
 */
@Serializable
abstract class Shape<T>(val name: String, size: Int) : Figure<T>(name), Drawable {
    private var sides: List<Side> = emptyList()

    // The area, in square units.
    override fun area(scale: Scale): Double {
        val local = clamp(1)
        return this.measure(scale) * Tools.sqrt(local).value
    }

    companion object {
        fun load(path: String) = parse(path)
    }
}

interface Drawable : Named {
    fun draw(canvas: Canvas)
}

enum class Colour(val code: Int) {
    RED(1),
    GREEN(2);

    fun warm() = this == RED
}

object Registry {
    val shapes = mutableListOf<Shape<*>>()
}

data class Point(val x: Int, val y: Int)

/** Draws all shapes. */
suspend fun <T> List<T>.draw(limit: Int = 1): Unit {
    forEach { place(it) }
}
