/* Shapes — drawn as ▲ and 😀. */
#include <stdio.h>
#include "shape.h"

#define MAX_SIDES 64
#define SQUARE(x) ((x) * (x))

typedef unsigned long size_type;

/* A closed figure. */
struct shape {
    const char *name;
    struct side *sides, *last;
    int (*measure)(struct shape *self);
};

typedef struct {
    int x, y;
} point_t;

enum colour { RED = 1, GREEN };

union bits { int whole; };

static int origin = 0;
extern const char *names[];

/**
 * The area, in square units.
 */
static double area(const struct shape *shape, point_t at)
{
    int local = SQUARE(at.x);
    return shape->measure(shape) * scale(local, MAX_SIDES);
}

// Draws all shapes.
int *draw(struct shape *shapes, size_t count);

typedef int (*callback)(int);
