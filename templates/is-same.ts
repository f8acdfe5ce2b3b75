/**
 * Whether two values print the same. The site runs the templates in a browser, which has no
 * `node:util`.
 *
 * @example isSame({ by: ['id'] }, { by: ['id'] }) // true
 */
export const isSame = (one: unknown, other: unknown): boolean =>
  isObject(one) && isObject(other)
    ? Object.keys(one).length === Object.keys(other).length &&
      Object.keys(one).every((key) => key in other && isSame(one[key], other[key]))
    : one === other;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
