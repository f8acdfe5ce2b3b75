import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { run } from '../../generator/pipeline.ts';
import { disk } from '../../generator/write/disk.ts';
import { generator, makeProject, type TestProject } from './project.ts';
import { createRandom } from './random.ts';
import {
  addType,
  changeSchema,
  printFiles,
  type RandomSchema,
  startSchema,
} from './random-schema.ts';

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((each) => each.remove()));

/** BRANCH_PAIRS=60 is the long run, which takes minutes. */
const PAIRS = Number(process.env['BRANCH_PAIRS'] ?? 16);
const CONFLICTS = Math.ceil(PAIRS / 30);
const TYPES = 100;

function git(shop: TestProject, ...args: string[]): string {
  const identity = [
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@b.c',
    '-c',
    'init.defaultBranch=main',
    '-c',
    'merge.conflictStyle=merge',
  ];
  return execFileSync('git', [...identity, ...args], {
    cwd: shop.root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function commitSchema(
  shop: TestProject,
  schema: RandomSchema,
  message: string,
): Promise<void> {
  for (const path of Object.keys(shop.files()))
    if (path.startsWith('schema/')) (await import('node:fs')).rmSync(shop.path(path));
  for (const [path, text] of Object.entries(printFiles(schema))) shop.write(path, text);
  const { project } = await run(shop.root, {}, disk);
  expect(project).not.toBeNull();
  git(shop, 'add', '-A');
  git(shop, 'commit', '-q', '--allow-empty', '-m', message);
}

/** Files in conflict after a merge; none when it was clean. */
function merge(shop: TestProject): string[] {
  try {
    git(shop, 'merge', '-q', '-m', 'merge', 'left');
    return [];
  } catch {
    return git(shop, 'diff', '--name-only', '--diff-filter=U').trim().split('\n');
  }
}

type Edit = (schema: RandomSchema, side: number) => RandomSchema;

/** A repository whose first commit holds a generated project. Copied for each pair, which is faster than to make it anew. */
async function makeBase(): Promise<{ shop: TestProject; schema: RandomSchema }> {
  const shop = makeProject({ 'manifest.yaml': 'name: shop\n' });
  git(shop, 'init', '-q');
  const schema = startSchema(createRandom(17), TYPES);
  await commitSchema(shop, schema, 'base');
  return { shop, schema };
}

async function mergeBranches(
  base: { shop: TestProject; schema: RandomSchema },
  edit: Edit,
): Promise<{ conflicts: string[]; shop: TestProject }> {
  const shop = makeProject({});
  made.push(shop);
  cpSync(base.shop.root, shop.root, { recursive: true });
  git(shop, 'checkout', '-qb', 'left');
  await commitSchema(shop, edit(base.schema, 0), 'left');
  git(shop, 'checkout', '-q', 'main');
  await commitSchema(shop, edit(base.schema, 1), 'right');
  return { conflicts: merge(shop), shop };
}

describe('two branches', () => {
  test(`of ${PAIRS} pairs that change the schema at random at most ${CONFLICTS} conflict, and each clean merge is what a run writes`, async () => {
    const base = await makeBase();
    const random = createRandom(5);
    const conflicts: string[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      const edit = random.chance(0.5) ? addType : changeSchema;
      const { conflicts: paths, shop } = await mergeBranches(base, (schema, side) =>
        edit({ ...schema, made: schema.made + side * 100 }, random),
      );
      if (paths.some((path) => !path.startsWith('schema/')))
        conflicts.push(`pair ${pair}: ${paths.join(', ')}`);
      if (paths.length === 0) expect([pair, await differences(shop)]).toEqual([pair, []]);
      made.splice(0).forEach((each) => each.remove());
    }
    base.shop.remove();
    process.stderr.write(
      `branches: ${conflicts.length} conflicts in ${PAIRS} pairs\n${conflicts.map((line) => `  ${line}\n`).join('')}`,
    );
    expect(conflicts.length).toBeLessThanOrEqual(CONFLICTS);
  }, 900_000);

  test('whose merge needs a person are put right by the next run, with nothing lost', async () => {
    const base = await makeBase();
    made.push(base.shop);
    const { shop } = await mergeBranches(base, (schema, side) =>
      addType({ ...schema, made: schema.made + side }, createRandom(side)),
    );
    shop.write('src/generated/types.ts', `<<<<<<< HEAD\na\n=======\nb\n>>>>>>> left\n`);
    expect(await generator(['generate'], shop.root)).toMatchObject({ code: 0, stdout: '' });
    expect(shop.read('src/generated/types.ts')).not.toContain('<<<<');
    expect(
      Object.entries(shop.files()).some(
        ([path, text]) => path.startsWith('.generator/rescued/') && text.includes('>>>>>>> left'),
      ),
    ).toBe(true);
  });
});

/** What a run writes over a clean merge, the lock apart: it then holds the lines of both. */
async function differences(shop: TestProject): Promise<string[]> {
  const { changes, project } = await run(shop.root, {}, disk);
  expect(project).not.toBeNull();
  return changes
    .filter(({ kind, path }) => kind !== 'same' && path !== 'generator.lock')
    .map(({ kind, path }) => `${kind} ${path}`);
}
