// Shapes — drawn as ▲ and 😀.
#include <vector>
#include "shape.hpp"

using std::string;
using Pair = std::pair<int, int>;

#define MAX_SIDES 64

namespace geometry {

constexpr int origin = 0;

/// A closed figure.
template <typename T>
class Shape : public Figure<T>, private detail::Placed {
 public:
  explicit Shape(string name);
  virtual ~Shape() = default;

  // The area, in square units.
  double area() const { return measure(sides_) * std::sqrt(scale()); }
  bool operator==(const Shape& other) const;
  static Shape* make();

 private:
  std::vector<Side> sides_;
  int count_ = 0;
};

struct Point {
  int x, y;
};

enum class Colour { Red, Green };

}  // namespace geometry

/// Draws all shapes.
void geometry::Shape::rotate(const Angle& angle) {
  auto local = new Canvas(angle.degrees());
  local->draw<Pen>(this);
}

template <typename T>
T twice(T x) {
  return x + x;
}

int draw(const Point& at);

concept_check check;
