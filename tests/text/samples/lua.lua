-- Shapes — drawn as ▲ and 😀.
local json = require("json")
local colour = require 'lib.colour'

MAX_SIDES = 64
local origin = { x = 0, y = 0 }

-- A closed figure.
local Shape = {}
Shape.__index = Shape
Shape.unit = "cm"

--- Makes a shape.
-- @param name its name
function Shape.new(name)
  return setmetatable({ name = name }, Shape)
end

-- The area, in square units.
function Shape:area(scale)
  local inner = clamp(1)
  return self:measure(scale) * math.sqrt(inner)
end

local function place(shape)
  table.insert(placed, shape.name)
end

function draw(shapes, ...)
  for _, shape in ipairs(shapes) do
    place(shape)
  end
end

local twice = function(x)
  return x * 2
end

Shape.rotate = function(self, angle) end

local api = {
  start = function(port) listen(port) end,
}

return Shape
