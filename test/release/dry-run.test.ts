import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { root } from '../source-files.ts';

const execute = promisify(execFile);

describe('npm run release -- --dry-run', () => {
  it('builds, checks and installs the packs with npm and pnpm, and finds nothing', async () => {
    const words = ['release/main.ts', '--dry-run'];
    const { stdout } = await execute(process.execPath, words, { cwd: root });
    expect(stdout).toMatch(/^@twofold\/runtime@\S+: \d+ files, \d+ kB, unpacked \d+ kB$/m);
    expect(stdout).toContain('npm: installed, init --template company, tests passed');
    expect(stdout).toContain('pnpm: installed, init --template company, tests passed');
    expect(stdout).toContain('nothing found');
  }, 600_000);
});
