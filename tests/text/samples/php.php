<?php
// Shapes — drawn as ▲ and 😀.
namespace Example\Shapes;

use Psr\Log\LoggerInterface;
use Example\Colours\{Red, Green as Leaf};
use function Example\Tools\clamp;

require_once 'bootstrap.php';
include __DIR__ . '/dynamic.php';

const MAX_SIDES = 64;
define('ORIGIN', 0);

/**
 * A closed figure.
 */
#[Entity]
abstract class Shape extends Figure implements Drawable, \Countable
{
    use Coloured;

    public const UNIT = 'cm';
    private array $sides = [];

    public function __construct(private readonly Pen $pen, string $name)
    {
        parent::__construct($name);
    }

    // The area, in square units.
    public function area(?Scale $scale = null): float
    {
        $local = clamp(1);
        return $this->measure($scale) * Tools::scale(new Ratio(self::UNIT)) + $this->pen->width;
    }

    abstract protected function rotate(Angle $angle): static;
}

interface Drawable extends Named
{
    public function draw(Canvas $canvas): void;
}

trait Coloured
{
}

enum Colour: string
{
    case Red = 'r';
}

/** Draws all shapes. */
function draw(Shape ...$shapes): void
{
    foreach ($shapes as $shape) {
        place($shape);
    }
}
