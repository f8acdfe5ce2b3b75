import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from '../source-files.ts';

const execute = promisify(execFile);

describe('npm run release -- --dry-run', () => {
  it('builds, checks and installs the packs with npm and pnpm, and finds nothing', async () => {
    // CI has the time for one Node; the workflow that publishes tries the newest one too.
    const words = ['release/main.ts', '--dry-run', '--this-node'];
    const { stdout } = await execute(process.execPath, words, { cwd: root });
    expect(stdout).toMatch(/^@twofold\/runtime@\S+: \d+ files, \d+ kB, unpacked \d+ kB$/m);
    for (const manager of ['npm', 'pnpm'])
      expect(stdout).toContain(
        `${manager} on Node ${process.versions.node}: create-twofold shop --template company, tests passed`,
      );
    expect(stdout).toContain('nothing found');
  }, 600_000);
});
