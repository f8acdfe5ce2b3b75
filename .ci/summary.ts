// node .ci/summary.ts <results of vitest as JSON> <exit status of vitest>
// The last line it prints is `N passed, N failed, N skipped`. It ends with 1 unless every test of the run passed.
// Before it stand the tests that passed only when they were tried again: a test that often does hides something.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

interface Test {
  readonly status: string;
  readonly fullName: string;
  /** One for each try that failed, also when a later one passed. */
  readonly failureMessages?: readonly string[];
}

interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly name: string; readonly status: string; readonly assertionResults: readonly Test[] }[];
}

const [file = '', status = '1'] = process.argv.slice(2);
const { passed, failed, skipped, remarks } = summarize(file);
for (const remark of remarks) console.log(remark);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = passed > 0 && failed === 0 && skipped === 0 && status === '0' ? 0 : 1;

function summarize(path: string) {
  if (!existsSync(path)) return { passed: 0, failed: 0, skipped: 0, remarks: ['no test ran to its end: there are no results'] };
  const results = JSON.parse(readFileSync(path, 'utf8')) as Results;
  // A file that cannot be loaded has no tests to count, and must not go unseen.
  const broken = results.testResults.filter((one) => one.status === 'failed' && !one.assertionResults.some((test) => test.status === 'failed'));
  const failed = results.numFailedTests + broken.length;
  const skipped = results.numPendingTests + results.numTodoTests;
  const remarks = [...triedAgain(results), ...remarksOn(failed, skipped, broken.map(({ name }) => name))];
  return { passed: results.numPassedTests, failed, skipped, remarks };
}

/** Tests that passed at a later try, with what the first one said and where. */
function triedAgain({ testResults }: Results): string[] {
  const lines = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.flatMap(({ status: outcome, fullName, failureMessages = [] }) => {
      const [first] = failureMessages;
      if (outcome !== 'passed' || first === undefined) return [];
      const line = first.split('\n').find((frame) => frame.includes(name))?.match(/:(\d+):\d+\)?$/)?.[1];
      const place = `${relative(process.cwd(), name)}${line === undefined ? '' : `:${line}`}`;
      return [`  ${place} ${fullName} (try ${failureMessages.length + 1}): ${first.split('\n')[0]?.slice(0, 300)}`];
    }),
  );
  return lines.length === 0 ? [] : [`${lines.length} passed only when tried again:`, ...lines];
}

function remarksOn(failed: number, skipped: number, broken: readonly string[]): string[] {
  const remarks = broken.map((name) => `failed outside of its tests: ${name}`);
  if (skipped > 0) remarks.push('in CI nothing may be skipped');
  if (status !== '0' && failed === 0) remarks.push(`no test failed, but the run ended with ${status}: look for unhandled errors above`);
  return remarks;
}
