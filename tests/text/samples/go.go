// Package shapes draws ▲ and 😀.
package shapes

import (
	"fmt"
	str "strings"

	"example.com/lib/colour"
)

import "os"

// MaxSides bounds a shape.
const MaxSides = 64

const (
	Red Colour = iota
	Green
)

var origin, corner = Point{0, 0}, newCorner()

// Colour of a shape.
type Colour int

// Shape is a closed figure.
type Shape struct {
	Base
	*colour.Paint
	Name  string
	sides []Side
}

type Drawable interface {
	fmt.Stringer
	Draw(canvas *Canvas) error
}

type Alias = map[string]Shape

// Area gives the area, in square units.
func (s *Shape) Area(scale float64) (area float64, err error) {
	local := measure(s.sides)
	return local * scale, fmt.Errorf("no %s", str.ToUpper(s.Name))
}

func (s Stack[T]) Push(item T) {}

// Map applies a function.
func Map[T any](items []T, apply func(T) T) []T {
	return make([]T, 0)
}
