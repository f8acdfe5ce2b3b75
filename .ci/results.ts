import { existsSync, readFileSync } from 'node:fs';

/** What vitest's JSON reporter says of a test. */
export interface Test {
  readonly status: string;
  readonly fullName: string;
  /** One for each try that failed, also when a later one passed. */
  readonly failureMessages?: readonly string[];
}

/** Of a file of tests: it fails, too, when it cannot be loaded and has no tests at all. */
export interface TestFile {
  readonly name: string;
  readonly status: string;
  /** In milliseconds, since 1970. */
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly Test[];
}

/** The files of several runs; null when none of them wrote any. */
export function readAll(paths: readonly string[]): readonly TestFile[] | null {
  const found = paths.map(readResults).filter((files) => files !== null);
  return found.length === 0 ? null : found.flat();
}

/** The files of a run; null when it wrote none. */
function readResults(path: string): readonly TestFile[] | null {
  if (!existsSync(path)) return null;
  return (JSON.parse(readFileSync(path, 'utf8')) as { testResults: TestFile[] }).testResults;
}

export const failed = ({ status, assertionResults }: TestFile): boolean =>
  status === 'failed' || assertionResults.some((test) => test.status === 'failed');
