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
  readonly assertionResults: readonly Test[];
}

/** The files of a run; null when it wrote none. */
export function readResults(path: string): readonly TestFile[] | null {
  if (!existsSync(path)) return null;
  return (JSON.parse(readFileSync(path, 'utf8')) as { testResults: TestFile[] }).testResults;
}

export const failed = ({ status, assertionResults }: TestFile): boolean =>
  status === 'failed' || assertionResults.some((test) => test.status === 'failed');
