/** The majors with long-term support, newest first, with the names that nvm uses in `lts/…`. */
const LTS = {
  krypton: 24,
  jod: 22,
  iron: 20,
  hydrogen: 18,
  gallium: 16,
  fermium: 14,
  erbium: 12,
  dubnium: 10,
} as const;
const MAJORS: readonly number[] = Object.values(LTS);
const NEWEST = MAJORS[0] as number;

/**
 * Chooses the newest major of Node.js with long-term support that a project's version text allows.
 * The text is a version, a name of nvm or a range of npm. If the text names only a major without
 * long-term support, such as `23`, that major is returned.
 *
 * @example
 * nodeMajor('>=12') // 24
 * nodeMajor('14 || 16') // 16
 * nodeMajor('lts/hydrogen') // 18
 */
export function nodeMajor(text: string): number {
  const wanted = text.trim().toLowerCase();
  const name = /^lts\/(\w+)$/.exec(wanted)?.[1];
  if (name !== undefined) return LTS[name as keyof typeof LTS] ?? NEWEST;
  const ranges = wanted.split('||').map(toMajors);
  const found = MAJORS.find((major) => ranges.some((holds) => holds(major)));
  return found ?? exactMajor(wanted) ?? NEWEST;
}

const exactMajor = (text: string): number | null => {
  const major = Number(/^[v=^~]*(\d{1,2})(?:\.|$)/.exec(text)?.[1] ?? Number.NaN);
  return Number.isNaN(major) ? null : major;
};

/**
 * Whether a range includes any version of a major. All comparators of the range, separated by
 * spaces, must include it.
 */
function toMajors(range: string): (major: number) => boolean {
  const text = range.replace(/([<>=~^])\s+/g, '$1').trim();
  const between = /^v?(\d+)\S* +- +v?(\d+)\S*$/.exec(text);
  if (between) return (major) => major >= Number(between[1]) && major <= Number(between[2]);
  const tests = text.split(/\s+/).filter(Boolean).map(toTest);
  return (major) => tests.every((test) => test(major));
}

function toTest(comparator: string): (major: number) => boolean {
  const [, sign = '', number, rest = ''] = /^([<>]?=?|[~^])v?(\d+)(\S*)$/.exec(comparator) ?? [];
  if (number === undefined) return () => true;
  const limit = Number(number);
  // `<20` and `<20.0.0` include no version of 20; `<20.5` includes some.
  const whole = !/[1-9]/.test(rest);
  if (sign === '<') return (major) => (whole ? major < limit : major <= limit);
  if (sign === '<=') return (major) => major <= limit;
  if (sign === '>') return (major) => (rest === '' ? major > limit : major >= limit);
  if (sign === '>=') return (major) => major >= limit;
  return (major) => major === limit;
}
