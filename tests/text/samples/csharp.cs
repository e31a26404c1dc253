// Shapes — drawn as ▲ and 😀.
using System;
using System.Collections.Generic;
using static System.Math;
using Json = Newtonsoft.Json;

namespace Example.Shapes
{
    /// <summary>
    /// A closed figure.
    /// </summary>
    [Serializable]
    public abstract class Shape<T> : Figure<T>, IDrawable where T : Side
    {
        public const int MaxSides = 64;
        private List<Side> sides = new List<Side>(), corners;

        /// <summary>Its name.</summary>
        public string Name { get; set; } = "";
        public event EventHandler Changed;

        public Shape(string name) : base(name) { }

        // The area, in square units.
        public override double Area(Scale scale)
        {
            var local = Sqrt(2);
            return this.Measure<Side>(scale).Value;
        }

        public int Twice(int x) => x * 2;

        public static Shape<T> operator +(Shape<T> a, Shape<T> b) => a;
    }

    public interface IDrawable : IDisposable
    {
        void Draw(Canvas canvas);
    }

    public enum Colour { Red = 1, Green }

    public struct Point { public int X; }

    public record Pair(Point First, Point Second);

    public delegate void Handler(object sender);
}
