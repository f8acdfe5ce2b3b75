import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from '../source-files.ts';

/** What one warm query may run of our code. Both numbers only go down; the goal is 30 files and 90 functions. */
const FILES = 29;
const FUNCTIONS = 118;

interface Ran {
  readonly file: string;
  readonly functions: readonly string[];
}

describe('the way of a warm query', () => {
  it('is short enough to be read in one sitting', async () => {
    const program = join(root, 'test/graphql/warm-path.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: root });
    const ran = JSON.parse(stdout.trim().split('\n').at(-1)!) as readonly Ran[];
    const functions = ran.flatMap((each) => each.functions);
    console.log(
      `${ran.length} files, ${functions.length} functions\n${ran.map(({ file, functions: names }) => `${file}: ${names.map((name) => name || '()').join(' ')}`).join('\n')}`,
    );
    expect(ran.length).toBeLessThanOrEqual(FILES);
    expect(functions.length).toBeLessThanOrEqual(FUNCTIONS);
  });
});
