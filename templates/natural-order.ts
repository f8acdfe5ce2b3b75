/**
 * Items sorted by name, with digits compared as numbers: `line9` comes before `line10`. A leading
 * zero is a number of its own. Other characters are compared by code unit, so that the order is the
 * same under every locale.
 *
 * @example
 * inNaturalOrder(['b10', 'b9', 'a'], (name) => name) // ['a', 'b9', 'b10']
 */
export function inNaturalOrder<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  if (!items.some((item) => /\d/.test(nameOf(item))))
    return items.toSorted((a, b) => compare(nameOf(a), nameOf(b)));
  const keyed = items.map((item) => ({
    item,
    name: nameOf(item),
    key: nameOf(item).split(/(0|[1-9]\d*)/),
  }));
  return keyed
    .sort(
      (a, b) =>
        compareKeys(a.key, b.key) || a.name.length - b.name.length || compare(a.name, b.name),
    )
    .map(({ item }) => item);
}

/** The keys alternate between text and number. */
function compareKeys(a: readonly string[], b: readonly string[]): number {
  for (let at = 0; at < a.length && at < b.length; at++) {
    const [left, right] = [a[at]!, b[at]!];
    if (left === right) continue;
    return at % 2 === 1
      ? Number(left) - Number(right) || compare(left, right)
      : compare(left, right);
  }
  return 0;
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
