import type { Reporter, TestCase } from 'vitest/node';

/**
 * For CI: prints why a try failed as soon as the test has ended. Vitest prints it at the end of the run, which a run that
 * is stopped for its time never sees, and nothing of the tries before one that passed.
 */
export default class Failures implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (errors.length === 0) return;
    const tries = new Set(
      errors.map(
        ({ message, stack, diff }) => `${excerpt(stack ?? message)}\n${excerpt(diff ?? '')}`,
      ),
    );
    console.log(
      `${state} after ${errors.length} failed: ${test.module.relativeModuleId} > ${test.fullName}`,
    );
    for (const said of tries) console.log(said.replaceAll(/^/gm, '    '));
  }
}

const LINES = 12;

/** Of a long text, such as the output of a server, its first lines, without those of Vitest. */
function excerpt(text: string): string {
  const lines = text.split('\n').filter((line) => !line.includes('/node_modules/'));
  return lines
    .slice(0, LINES)
    .map((line) => line.slice(0, 300))
    .join('\n');
}
