/** Random input that a number repeats. */
export interface Random {
  /** From 0 to `below` − 1; 0 when that is nothing. */
  int(below: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Any text, with what breaks parsers more often than chance would have it. */
  text(most: number): string;
  /** Text that may stand in a header. */
  header(most: number): string;
  /** A JSON value of at most so many levels. */
  json(depth: number): unknown;
  /** `text` with a few characters changed, taken out, doubled or put elsewhere. */
  mutate(text: string): string;
}

const NASTY = [
  '\u0000',
  '\r\n',
  '\u2028',
  '\ud800',
  '\u202e',
  '＠',
  'K',
  'İ',
  "'",
  '"',
  '\\',
  '--',
  '%00',
  '${x}',
  '{{x}}',
  '../',
  '<x>',
  '😀',
  '\u0301',
  '\ufeff',
  '\u00a0',
  '1e999',
  '-0',
  '__proto__',
];

/** Numbers after mulberry32. @example const random = generator(7); random.pick(['a', 'b']) */
export function generator(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  const pick = <T>(list: readonly T[]) => list[int(list.length)]!;
  const chance = (share: number) => next() < share;
  const repeat = <T>(most: number, make: () => T) => Array.from({ length: int(most + 1) }, make);
  const text = (most: number) =>
    repeat(most, () =>
      chance(0.2)
        ? pick(NASTY)
        : chance(0.1)
          ? String.fromCodePoint(int(0xd800))
          : String.fromCharCode(32 + int(95)),
    ).join('');
  const json = (depth: number): unknown => {
    const kind = int(depth > 0 ? 8 : 6);
    if (kind < 2) return text(12);
    if (kind < 6)
      return pick<unknown>([null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, int(100), '']);
    return kind === 6
      ? repeat(4, () => json(depth - 1))
      : Object.fromEntries(repeat(4, () => [text(6), json(depth - 1)]));
  };
  const mutate = (given: string) => {
    let changed = given;
    for (let count = 1 + int(3); count > 0; count -= 1) {
      const at = int(changed.length + 1);
      const [head, tail] = [changed.slice(0, at), changed.slice(at)];
      changed = pick([
        () => head + tail.slice(1),
        () => head + pick(['.', '=', '-', '_', ' ', '"', 'A', '{', '}', ',', '0']) + tail,
        () => head + head.slice(-8) + tail,
        () => tail + head,
        () => head,
      ])();
    }
    return changed;
  };
  return {
    int,
    chance,
    pick,
    text,
    json,
    mutate,
    header: (most) =>
      repeat(most, () =>
        chance(0.9)
          ? String.fromCharCode(33 + int(94))
          : pick([' ', '\t', '\u00e9', '\u00ff', '\u0080']),
      )
        .join('')
        .trim(),
  };
}
