import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type * as Planning from '../../generator/upgrade/plan-upgrade.ts';
import type * as Packs from '../../generator/upgrade/packs.ts';
import type * as Committing from '../../generator/write/commit.ts';
import type * as Disks from '../../generator/write/disk.ts';
import { faultyDisk, Stopped } from '../generator/faulty-disk.ts';
import { createRandom } from '../generator/random.ts';
import { NEXT, next } from './made-up.ts';
import { madeUp, type Release, released, releasedVersions } from './releases.ts';
import { link, makeSubject, stateOf, type Subject, succeed, upgrade } from './subject.ts';

/** Every operation is tried by `npm run test:upgrade`, and some of them in CI. */
const STEP = process.env['UPGRADE_PROJECTS'] === undefined ? 9 : 1;
const KILLS = process.env['UPGRADE_PROJECTS'] === undefined ? 2 : 25;
const SEED = Number(process.env['UPGRADE_SEED'] ?? 1);

const random = createRandom(SEED);
const first = releasedVersions()[0] as string;
let from: Release;
let to: Release;
let subject: Subject;
let before: Record<string, string>;
let after: Record<string, string>;

const load = async <Module>({ modules }: Release, path: string) =>
  (await import(join(modules, '@twofold/generator/generator', path))) as Module;

beforeAll(async () => {
  from = released(first);
  to = await madeUp(NEXT, next);
  subject = await makeSubject(0, from, createRandom(SEED));
  before = stateOf(subject.root);
  const copy = copyOf(subject.root);
  await succeed(upgrade(copy, to, '--force'));
  after = stateOf(copy);
  rmSync(copy, { recursive: true, force: true });
}, 600_000);
afterAll(() => subject.remove());

function copyOf(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'twofold-killed-'));
  cpSync(root, copy, { recursive: true, filter: (path) => !/node_modules|\.git$/.test(path) });
  link(copy, from);
  return copy;
}

/** The program of either version may be the next one that runs. */
async function recover(root: string, by: Release): Promise<void> {
  const { recover: finish } = await load<typeof Committing>(by, 'write/commit.js');
  const { disk } = await load<typeof Disks>(by, 'write/disk.js');
  await finish(root, disk);
}

const isOneOf = (state: object) =>
  [before, after].some((each) => JSON.stringify(each) === JSON.stringify(state));

describe('an upgrade that is killed', () => {
  it('at an operation of the disk leaves the project as before or as after', async () => {
    const { planUpgrade } = await load<typeof Planning>(to, 'upgrade/plan-upgrade.js');
    const { readPacks } = await load<typeof Packs>(to, 'upgrade/packs.js');
    const { commit } = await load<typeof Committing>(to, 'write/commit.js');
    const { disk } = await load<typeof Disks>(to, 'write/disk.js');
    const target = { version: to.version, packs: readPacks(to.packs) };
    const range = { from: first, to: to.version };
    const plan = (root: string) => planUpgrade({ root, range, target, lock: false }, disk);
    const { changes } = await plan(subject.root);
    const ends = new Set<string>();
    for (let stopAt = 0, done = false; !done; stopAt += STEP) {
      const copy = copyOf(subject.root);
      const faulty = faultyDisk(disk, stopAt);
      done = await commit(copy, changes, faulty).then(
        () => true,
        (error: unknown) => {
          if (!(error instanceof Stopped)) throw error;
          return false;
        },
      );
      await recover(copy, stopAt % 2 === 0 ? from : to);
      const state = stateOf(copy);
      expect([stopAt, isOneOf(state)]).toEqual([stopAt, true]);
      ends.add(
        state['src/generated/app.ts'] === before['src/generated/app.ts'] ? 'before' : 'after',
      );
      rmSync(copy, { recursive: true, force: true });
    }
    expect([...ends].sort()).toEqual(['after', 'before']);
  }, 600_000);

  it('by a signal at any time ends as after when it runs again', async () => {
    for (let kill = 0; kill < KILLS; kill++) {
      const copy = copyOf(subject.root);
      const program = join(to.modules, '@twofold/generator/generator/bin.js');
      const words = ['upgrade', '--to', to.packs, '--no-install', '--force'];
      const child = spawn(process.execPath, [program, ...words], { cwd: copy, stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('close', resolve));
      await wait(random.whole(1500));
      child.kill('SIGKILL');
      await ended;
      await recover(copy, kill % 2 === 0 ? from : to);
      expect([kill, isOneOf(stateOf(copy))]).toEqual([kill, true]);
      await succeed(upgrade(copy, to, '--force'));
      expect(stateOf(copy)).toEqual(after);
      rmSync(copy, { recursive: true, force: true });
    }
  }, 600_000);
});
