// node .ci/summary.ts <worst exit status of vitest> <results of the files that were run again> <results of a run as JSON>…
// The last line it prints is `N passed, N failed, N skipped`. It ends with 1 unless every test of the run passed.
// Before it stand the tests that passed only when they were tried again: a test that often does hides something.
import { relative } from 'node:path';
import { failed, readAll, type TestFile } from './results.ts';

const [status = '1', again = '', ...runs] = process.argv.slice(2);
const { counts, remarks } = summarize();
for (const remark of remarks) console.log(remark);
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode =
  counts.passed > 0 && counts.failed === 0 && counts.skipped === 0 && status === '0' ? 0 : 1;

function summarize() {
  const files = readAll(runs);
  if (files === null)
    return {
      counts: { passed: 0, failed: 0, skipped: 0 },
      remarks: ['no test ran to its end: there are no results'],
    };
  const second = new Map((readAll([again]) ?? []).map((file) => [file.name, file]));
  const last = [...new Set(files.map(({ name }) => name))].map(
    (name) => second.get(name) ?? worstOf(files.filter((file) => file.name === name)),
  );
  const counts = countsOf(last);
  const beside = files.filter(({ name }) => second.has(name)).flatMap(failures);
  return {
    counts,
    remarks: [
      ...listed('files took longest', longest(files)),
      ...listed('failed beside others, and then their files were run alone', beside),
      ...listed('passed only when tried again', last.flatMap(triedAgain)),
      ...remarksOn(counts, last),
    ],
  };
}

/** A file that ran without services, and then with them: the first failure counts, else the fuller run. */
function worstOf(runs: readonly TestFile[]): TestFile {
  return runs.find(failed) ?? runs.at(-1)!;
}

function countsOf(files: readonly TestFile[]) {
  const count = (...statuses: string[]) =>
    files.reduce(
      (sum, file) =>
        sum + file.assertionResults.filter((test) => statuses.includes(test.status)).length,
      0,
    );
  // A file that cannot be loaded has no tests to count, and must not go unseen.
  return {
    passed: count('passed'),
    failed: count('failed') + files.filter(isBroken).length,
    skipped: count('pending', 'skipped', 'todo', 'disabled'),
  };
}

function isBroken(file: TestFile): boolean {
  return failed(file) && !file.assertionResults.some((test) => test.status === 'failed');
}

/** Where to look first when the suite has to become shorter: they take most of the time. */
function longest(files: readonly TestFile[]): string[] {
  const seconds = ({ startTime, endTime }: TestFile) => (endTime - startTime) / 1000;
  return files
    .toSorted((a, b) => seconds(b) - seconds(a))
    .slice(0, 20)
    .map((file) => `${Math.round(seconds(file))} s ${relative(process.cwd(), file.name)}`);
}

function listed(what: string, lines: readonly string[]): string[] {
  return lines.length === 0
    ? []
    : [`${lines.length} ${what}:`, ...lines.map((line) => `  ${line}`)];
}

/** Tests that failed at every try, with what the first one said and where. */
function failures(file: TestFile): string[] {
  return file.assertionResults
    .filter((test) => test.status === 'failed')
    .map(({ fullName, failureMessages = [] }) => said(file, fullName, failureMessages[0] ?? ''));
}

/** Tests that passed at a later try. */
function triedAgain(file: TestFile): string[] {
  return file.assertionResults.flatMap(({ status: outcome, fullName, failureMessages = [] }) => {
    const [message] = failureMessages;
    return outcome === 'passed' && message !== undefined
      ? [said(file, `${fullName} (try ${failureMessages.length + 1})`, message)]
      : [];
  });
}

function said({ name }: TestFile, test: string, message: string): string {
  const line = message
    .split('\n')
    .find((frame) => frame.includes(name))
    ?.match(/:(\d+):\d+\)?$/)?.[1];
  return `${relative(process.cwd(), name)}${line === undefined ? '' : `:${line}`} ${test}: ${message.split('\n')[0]?.slice(0, 300)}`;
}

function remarksOn(
  { failed: failures, skipped }: { readonly failed: number; readonly skipped: number },
  files: readonly TestFile[],
): string[] {
  const remarks = files.filter(isBroken).map(({ name }) => `failed outside of its tests: ${name}`);
  if (skipped > 0) remarks.push('in CI nothing may be skipped');
  if (status !== '0' && failures === 0)
    remarks.push(
      `no test failed, but the run ended with ${status}: look for unhandled errors above`,
    );
  return remarks;
}
