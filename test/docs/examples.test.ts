import { afterAll, describe, expect, it } from 'vitest';
import type { Diagnostic } from '@twofold/schema';
import { createDatabase } from '../engines/available.ts';
import { databases } from '../graphql/harness.ts';
import { type Block, pages, type Page } from './page.ts';
import type { TestProject } from '../generator/project.ts';
import { buildProject, startProject } from './emitted.ts';
import { read, startWorld, type World } from './world.ts';

/** A schema of a page with everything up to the next one: the example is played from top to bottom. */
interface Example {
  readonly schema: Block;
  readonly manifest: Block | undefined;
  readonly files: readonly Block[];
  readonly steps: readonly Block[];
}

const errors = (diagnostics: readonly Diagnostic[]) =>
  diagnostics
    .filter(({ severity }) => severity === 'error')
    .map(({ code, summary }) => `${code} ${summary}`);

describe.each(pages().map((page) => [page.path, page] as const))('%s', (_, page) => {
  // A page that lists every command or directive is looked up, not read from its beginning: about 12 lines for each of 24 commands.
  const most = /\/(commands|directives)\.md$/.test(page.path) ? 301 : 201;
  it('is short', () => expect(page.text.split('\n').length).toBeLessThanOrEqual(most));

  const examples = examplesOf(page);
  // The others are read with the schema below them.
  const alone = page.blocks.filter(
    (block) => block.role === 'manifest' && !examples.some(({ manifest }) => manifest === block),
  );
  for (const manifest of alone) {
    it(`has at line ${manifest.line} a manifest that means what the page says`, () => {
      const { diagnostics } = read('type Query { hello: String }', manifest.text);
      checkFindings(diagnostics, manifest.options['finding']);
    });
  }

  for (const { schema, manifest } of examples) {
    it(`has at line ${schema.line} a schema that means what the page says`, () => {
      const { diagnostics } = read(schema.text, manifest?.text);
      checkFindings(diagnostics, schema.options['finding']);
    });
  }

  for (const database of databases) {
    for (const example of examples.filter(({ steps }) =>
      steps.some((step) => isPlayed(step, database)),
    )) {
      it(
        `answers the example at line ${example.schema.line} as it says, on ${database}`,
        { timeout: example.files.length > 0 ? 240_000 : 60_000 },
        async () => {
          const { url, drop } =
            database === 'postgres'
              ? await createDatabase()
              : { url: ':memory:', drop: async () => {} };
          const world = await startExample(example, url).catch(
            async (error: unknown) => (await drop(), Promise.reject(error)),
          );
          try {
            await play(
              world,
              example.steps.filter((step) => isPlayed(step, database)),
              page,
            );
          } finally {
            await world.close();
            await drop();
          }
        },
      );
    }
  }
});

/** The tables that a page shows are SQLite's. */
const isPlayed = ({ language }: Block, database: string) =>
  database === 'sqlite' || language !== 'sql';

/** Projects of examples with TypeScript: each is generated and checked once, for both databases. */
const projects = new Map<Example, Promise<TestProject>>();
afterAll(async () => {
  for (const project of projects.values())
    await project.then(
      ({ remove }) => remove(),
      () => {},
    );
});

async function startExample(example: Example, url: string): Promise<World> {
  const { schema, manifest, files } = example;
  if (files.length > 0) {
    const built = projects.get(example) ?? buildProject(schema.text, manifest?.text, files);
    projects.set(example, built);
    built.catch(() => projects.delete(example));
    return startProject(await built, url);
  }
  const { project, diagnostics } = read(schema.text, manifest?.text);
  if (!project) throw new Error(errors(diagnostics).join('\n'));
  return startWorld(project, {}, { DATABASE_URL: url });
}

/** A page that shows a finding shows the whole of what goes wrong; any other example has no error. */
function checkFindings(diagnostics: readonly Diagnostic[], wanted: string | undefined): void {
  if (wanted === undefined) expect(errors(diagnostics)).toEqual([]);
  else expect([...new Set(diagnostics.map(({ code }) => code))]).toContain(wanted);
}

function examplesOf(page: Page): Example[] {
  const starts = page.blocks.flatMap((block, index) => (block.role === 'schema' ? [index] : []));
  return starts.map((start, index) => {
    const before = page.blocks[start - 1];
    const own = page.blocks
      .slice(start + 1, starts[index + 1])
      .filter(({ role }) => role !== 'manifest');
    return {
      schema: page.blocks[start]!,
      manifest:
        before?.role === 'manifest' && before.options['finding'] === undefined ? before : undefined,
      files: own.filter(({ options }) => options['file'] !== undefined),
      steps: own.filter(
        ({ language, options }) =>
          ['graphql', 'sql', 'sh', 'json'].includes(language) && options['file'] === undefined,
      ),
    };
  });
}

/** Every block is a step; an answer belongs to the step above it. */
async function play(world: World, steps: readonly Block[], page: Page): Promise<void> {
  let answer: { status: number; body: unknown } = { status: 200, body: null };
  for (const [index, step] of steps.entries()) {
    const place = `${page.path}:${step.line}`;
    const next = steps[index + 1];
    if (step.language === 'sql')
      expect([place, (await world.tables()).map(plain)]).toEqual([place, splitSql(step.text)]);
    else if (step.language === 'sh') answer = await world.shell(step.text);
    else if (step.role === 'subscribe') await world.subscribe(step.text, step.options['as']);
    else if (step.role === 'event')
      expect([place, await world.nextEvent()]).toEqual([place, expected(step)]);
    else if (step.role === 'variables') continue;
    else if (step.language === 'graphql')
      answer = {
        status: 200,
        body: await world.graphql(
          step.text,
          next?.role === 'variables' ? JSON.parse(next.text) : undefined,
          step.options['as'],
        ),
      };
    else
      expect([place, answer]).toEqual([
        place,
        { status: Number(step.options['status'] ?? 200), body: expected(step) },
      ]);
    const shown = (next?.role === 'variables' ? steps[index + 2] : next)?.language === 'json';
    if (step.language === 'graphql' && step.role === '' && !shown)
      expect([place, answer.body]).toEqual([place, { data: expect.anything() }]);
    if (step.language === 'sh' && !shown)
      expect([place, answer.status]).toEqual([place, Number(step.options['status'] ?? 200)]);
  }
}

/** `"…"` stands for what differs from run to run: times, request ids. */
function expected(block: Block): unknown {
  return JSON.parse(block.text, (_, value: unknown) => (value === '…' ? expect.anything() : value));
}

/** One spelling for statements, however they are broken into lines and quoted. */
function plain(sql: string): string {
  return sql
    .replaceAll('"', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\( /g, '(')
    .replaceAll(/ \)/g, ')')
    .replace(/;$/, '')
    .trim()
    .toLowerCase();
}

function splitSql(text: string): string[] {
  return text
    .split(/;\s*(?:\n|$)/)
    .map(plain)
    .filter(Boolean);
}
