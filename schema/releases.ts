/**
 * The number of a release that may change what projects see: the second one of 0.2.1, the first
 * one of 3.1.0.
 *
 * @example releaseOf('0.2.1') // '0.2'
 */
export function releaseOf(version: string): string {
  const [major = '0', minor = '0'] = version.split('.');
  return major === '0' ? `0.${minor}` : major;
}

/**
 * Compares versions, or releases, by their numbers; a version such as 0.2.0-next.1 comes before
 * 0.2.0.
 *
 * @returns a negative number if `a` is older, 0 if they are equal.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  for (const at of [0, 1, 2]) {
    const difference = (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.next === right.next) return 0;
  if (left.next === '' || right.next === '') return left.next === '' ? 1 : -1;
  return left.next.localeCompare(right.next, 'en', { numeric: true });
}

function partsOf(version: string): { readonly numbers: readonly number[]; readonly next: string } {
  const [plain = '', ...next] = version.split('-');
  return { numbers: plain.split('.').map(Number), next: next.join('-') };
}

/**
 * What to log when code that another release generated is about to run: nothing if it is the same
 * release. A release runs what the one before it generated.
 *
 * @param generatedBy the version in `src/generated/app.ts`; undefined for an app without one.
 */
export function otherRelease(generatedBy: string | undefined, version: string): string[] {
  if (generatedBy === undefined || releaseOf(generatedBy) === releaseOf(version)) return [];
  const what = `src/generated is of version ${generatedBy} and @twofold/runtime of ${version}`;
  return compareVersions(generatedBy, version) > 0
    ? [`${what}: npm install brings the packages of package.json`]
    : [`${what}: npm run generator -- upgrade brings the code up to date`];
}
