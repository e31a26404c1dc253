//! Shapes — drawn as ▲ and 😀.
use std::collections::{BTreeMap, HashMap as Map};
use std::fmt;
use crate::colour::*;
use serde::Serialize;
mod canvas;

pub const MAX_SIDES: usize = 64;
static ORIGIN: Point = Point { x: 0, y: 0 };

/// A closed figure.
///
/// It has sides.
#[derive(Debug, Clone)]
pub struct Shape<'a, T: Draw> {
    pub name: &'a str,
    sides: Vec<Side<T>>,
}

pub enum Colour {
    Red,
    Mixed(u8, Tone),
}

pub trait Draw: Measure + fmt::Debug {
    const SCALE: f32;
    type Output;
    /// Draws it.
    fn draw(&self, canvas: &mut Canvas) -> Self::Output;
}

impl<'a, T: Draw> Shape<'a, T> {
    // The area, in square units.
    pub fn area(&self) -> f64 {
        let local = self.measure();
        local * geometry::scale(MAX_SIDES)
    }
}

impl<T> fmt::Display for Shape<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.name.len())
    }
}

type Pair = (Shape, Shape);

mod tools {
    pub async fn load<P>(path: P) -> Result<Shape, Error>
    where
        P: AsRef<Path>,
    {
        Err(Error::new(path))
    }
}

macro_rules! square {
    ($x:expr) => {
        $x * $x
    };
}

union Bits {
    whole: u32,
}
