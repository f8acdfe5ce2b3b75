import { afterEach, describe, expect, it } from 'vitest';
import { generator, linkPackages, makeProject, typecheck, type TestProject } from './project.ts';

const SCHEMA = `type Note { id: ID! text: String! }
type Job { id: ID! title: String! }
input Letter { to: String! }
type Query { notes: [Note!]! jobs: [Job!]! }
type Subscription { noted: String! }
`;

const LETTER = `import type * as types from '../generated/types.ts';

export default {
  input: 'Letter',
  attempts: 2,
  backoff: { initial: '50ms' },
  concurrency: { limit: 1, key: (data) => data.to },
  transaction: true,
  // It sends itself and returns what it gets: its type does not depend on that.
  async run({ data, ctx, job }) {
    if (data.to === 'nobody') throw new Error('there is no address');
    await ctx.data.note.create({ data: { text: \`\${data.to} \${job.attempt}\` } });
    if (data.to === 'Ada') return ctx.jobs.send('letter', { to: 'Grace' }, { delay: '1h' });
    return ctx.jobs.sendMany('clean-up', []);
  },
  async failed({ data, error, ctx }) {
    await ctx.data.note.create({ data: { text: \`\${data.to}: \${String(error)}\` } });
  },
} satisfies types.Job<types.Letter>;
`;
const CLEAN_UP = `import type * as types from '../generated/types.ts';

export default {
  schedule: '*/5 * * * *',
  timezone: 'Europe/Vienna',
  run: ({ ctx }) => ctx.jobs.send('letter', { to: 'Ada' }),
} satisfies types.Job;
`;

const made: TestProject[] = [];
afterEach(() => made.splice(0).forEach((project) => project.remove()));

function project(files: Record<string, string>): TestProject {
  const all = { 'schema.graphql': SCHEMA, 'manifest.yaml': 'name: shop\n', ...files };
  const one = makeProject(all);
  made.push(one);
  linkPackages(one);
  return one;
}

describe('files of jobs', () => {
  it('are part of the app, and type names and data of ctx.jobs', async () => {
    const shop = project({ 'src/jobs/letter.ts': LETTER, 'src/jobs/clean-up.ts': CLEAN_UP });
    const { code, stdout, stderr } = await generator(['generate'], shop.root);
    expect([code, stderr + stdout]).toEqual([0, expect.anything()]);
    expect(shop.read('src/generated/app.ts')).toContain(
      `jobs: { 'clean-up': cleanUpJob, letter: letterJob },`,
    );
    // A type of the schema that is called Job makes way for the one of jobs, and a hint says so.
    expect(stderr).toContain('TYPE_NAME_TAKEN  In TypeScript, Job of the schema is types.Job_');
    expect(shop.read('src/generated/types.ts')).toContain('export type Job_ = ');
    expect(JSON.parse(shop.read('package.json')).dependencies).toHaveProperty('croner');
    expect(await typecheck(shop.root)).toEqual([]);
    shop.write(
      'src/wrong.ts',
      `import type * as types from './generated/types.ts';
export const wrong = (ctx: types.Context) => [
  ctx.jobs.send('lettr', { to: 'x' }),
  ctx.jobs.send('letter', { to: 1 }),
  ctx.jobs.send('letter'),
  ctx.jobs.send('letter', { to: 'x' }, { dely: '1h' }),
];
`,
    );
    const findings = (await typecheck(shop.root)).join('\n');
    for (const line of [3, 4, 5, 6]) expect(findings).toContain(`src/wrong.ts(${line},`);
    expect((await generator(['prune'], shop.root)).stderr).not.toContain('src/jobs');
    expect(shop.has('src/jobs/letter.ts')).toBe(true);
  });

  it('leave no trace in a project without them', async () => {
    const shop = project({});
    expect((await generator(['generate'], shop.root)).code).toBe(0);
    expect(shop.read('src/generated/types.ts')).not.toContain('JobOf');
    expect(JSON.parse(shop.read('package.json')).dependencies).not.toHaveProperty('croner');
    const asked = await generator(['jobs'], shop.root);
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringContaining('add a file to src/jobs'),
    ]);
  });

  it.each([
    ['src/jobs/MailReceipt.ts', LETTER, 'JOB_NAME_INVALID', 'Did you mean "mail-receipt"?'],
    ['src/jobs/letter.ts', 'export const job = {};\n', 'FILE_EXPORT_MISSING', 'export default'],
    [
      'src/jobs/clean-up.ts',
      CLEAN_UP.replace('*/5 * * * *', '*/5 * * *'),
      'JOB_SCHEDULE_INVALID',
      'has neither 5 nor 6 fields',
    ],
    [
      'src/jobs/clean-up.ts',
      CLEAN_UP.replace('*/5', '77'),
      'JOB_SCHEDULE_INVALID',
      'Invalid value for minute',
    ],
    [
      'src/jobs/clean-up.ts',
      CLEAN_UP.replace('Vienna', 'Wien'),
      'JOB_SCHEDULE_INVALID',
      'Invalid timezone',
    ],
  ])('%s is refused: %#', async (path, text, finding, hint) => {
    const { code, stdout, stderr } = await generator(['generate'], project({ [path]: text }).root);
    expect(code).toBe(3);
    expect(stdout + stderr).toContain(finding);
    expect(stdout + stderr).toContain(hint);
    expect(stdout + stderr).toContain(path);
  });
});

describe('generator jobs', () => {
  it(
    'runs, shows, retries and cancels jobs, with its exit codes',
    { timeout: 120_000 },
    async () => {
      const shop = project({ 'src/jobs/letter.ts': LETTER, 'src/jobs/clean-up.ts': CLEAN_UP });
      expect((await generator(['generate'], shop.root)).code).toBe(0);
      const jobs = async (...words: string[]) => {
        const { code, stdout, stderr } = await generator(['jobs', ...words], shop.root);
        return { code, out: stdout, errors: stderr };
      };
      const json = async (...words: string[]) => {
        const { code, out } = await jobs(...words, '--json');
        return { code, ...JSON.parse(out) };
      };
      // No server runs: the command runs the job itself.
      const sent = await jobs('run', 'letter', '--data', '{"to":"Ada"}', '--wait');
      expect(sent).toEqual({ code: 0, out: '1\n', errors: '' });
      const failed = await json('run', 'letter', '--data', '{"to":"nobody"}', '--wait');
      expect(failed).toMatchObject({
        code: 2,
        job: { id: 3, state: 'failed', attempt: 2, error: 'there is no address' },
      });
      expect((await json()).stats).toEqual([
        { name: 'letter', state: 'done', count: 1 },
        { name: 'letter', state: 'failed', count: 1 },
        { name: 'letter', state: 'waiting', count: 1 },
      ]);
      expect((await jobs('list', '--state', 'failed', '--limit', '5')).out).toMatch(
        /^3 {2}letter {2}failed {2}2\/2 {2}\S+ {2}there is no address\n$/,
      );
      expect(await json('retry', '--failed', 'letter')).toMatchObject({ code: 0, retried: 1 });
      expect(await json('cancel', '3')).toMatchObject({ code: 0, job: { state: 'cancelled' } });
      const wrong = [
        [['show', '99'], 'there is no job with the id 99'],
        [['run', 'lettre'], 'Did you mean "letter"?'],
        [['run', 'letter', '--data', '{'], '--data must be JSON'],
        [['lst'], 'Did you mean "list"?'],
        [['retry'], 'needs an ID, or --failed'],
      ] as const;
      for (const [words, text] of wrong) {
        const { code, errors } = await jobs(...words);
        expect([words, code, errors]).toEqual([words, 2, expect.stringContaining(text)]);
      }
    },
  );
});
