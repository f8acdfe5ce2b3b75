// node .ci/summary.ts <results of vitest as JSON> <exit status of vitest>
// The last line it prints is `N passed, N failed, N skipped`. It ends with 1 unless every test of the run passed.
import { existsSync, readFileSync } from 'node:fs';

interface Results {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly name: string; readonly status: string; readonly assertionResults: readonly { readonly status: string }[] }[];
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
  return { passed: results.numPassedTests, failed, skipped, remarks: remarksOn(failed, skipped, broken.map(({ name }) => name)) };
}

function remarksOn(failed: number, skipped: number, broken: readonly string[]): string[] {
  const remarks = broken.map((name) => `failed outside of its tests: ${name}`);
  if (skipped > 0) remarks.push('in CI nothing may be skipped');
  if (status !== '0' && failed === 0) remarks.push(`no test failed, but the run ended with ${status}: look for unhandled errors above`);
  return remarks;
}
