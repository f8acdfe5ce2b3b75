import { duration, rateLimit, size } from './quantities.ts';
import { definitionOf, isData, type Shape } from './shape.ts';

/**
 * Converters of the shared definitions. A definition that is not listed keeps its value as written.
 */
const UNITS: Readonly<Record<string, (written: never) => unknown>> = {
  duration,
  size,
  limit: rateLimit,
};

/**
 * Values of the manifest with keys in camelCase, durations in milliseconds and sizes in bytes. The
 * JSON Schema gives the unit of each value. Keys that the user chose are not changed.
 *
 * @example
 * toModel({ max_bytes: 8192, ttl: '24h' }, jwtSchema) // { maxBytes: 8192, ttl: 86400000 }
 */
export function toModel(written: unknown, shape: Shape): unknown {
  const name = definitionOf(shape);
  if (name !== undefined) return UNITS[name] ? UNITS[name](written as never) : written;
  const option = withUnit(shape, written);
  if (option) return toModel(written, option);
  if (Array.isArray(written))
    return shape.items ? written.map((item) => toModel(item, shape.items!)) : written;
  if (!isData(written)) return written;
  return Object.fromEntries(
    Object.entries(written).map(([key, value]) => {
      const own = propertyOf(shape, key);
      if (own) return [modelKey(key), toModel(value, own)];
      const other = shape.additionalProperties;
      return [key, typeof other === 'object' ? toModel(value, other) : value];
    }),
  );
}

/** The option of a shape that has a unit, unless another option is this very value. */
function withUnit({ anyOf = [] }: Shape, value: unknown): Shape | undefined {
  if (anyOf.some((option) => option.const === value)) return undefined;
  return anyOf.find((option) => definitionOf(option) !== undefined);
}

/** How a template prints a value that has a unit. */
export interface UnitPrinters<Printed> {
  duration(milliseconds: number): Printed;
  size(bytes: number): Printed;
}

/**
 * A section of the model with every duration and size printed. Values that are not in the JSON
 * Schema, such as those that a capability adds to its model, are not changed.
 *
 * @example
 * printUnits({ ttl: 86400000, maxBytes: 8192 }, jwtSchema, { duration: durationText, size: sizeText }) // { ttl: '1d', maxBytes: 8192 }
 */
export function printUnits<Printed>(
  value: unknown,
  shape: Shape,
  printers: UnitPrinters<Printed>,
): unknown {
  switch (definitionOf(shape)) {
    case 'duration':
      return printers.duration(value as number);
    case 'size':
      return printers.size(value as number);
    case 'limit': {
      const { count, window } = value as ReturnType<typeof rateLimit>;
      return { count, window: printers.duration(window) };
    }
  }
  const option = withUnit(shape, value);
  if (option) return printUnits(value, option, printers);
  if (!isData(value) || !shape.properties) return value;
  const shapes = new Map(
    Object.entries(shape.properties).map(([key, property]) => [modelKey(key), property]),
  );
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const own = shapes.get(key);
      return [key, own ? printUnits(inner, own, printers) : inner];
    }),
  );
}

/** `max_bytes` → `maxBytes`; `login-ip` stays. */
function modelKey(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

function propertyOf({ properties }: Shape, key: string): Shape | undefined {
  return properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
}
