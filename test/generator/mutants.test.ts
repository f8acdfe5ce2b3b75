import { describe, expect, test } from 'vitest';
import { renderFiles, type Sources } from '../../generator/files.ts';
import { planMigration } from '../../generator/migrations/plan.ts';
import { planFiles } from '../../generator/plan.ts';
import { createPaint, formatFindings } from '../../generator/report.ts';
import { readProject, type Project } from '../../schema/index.ts';
import { starters } from '../../templates/starter/index.ts';
import { KITCHEN_SINK } from '../templates/schemas.ts';
import { generator, makeProject } from './project.ts';
import { createRandom, type Random } from './random.ts';

/** MUTANTS=10000 for the long run, MUTANTS_SEED for other ones. */
const MUTANTS = Number(process.env['MUTANTS'] ?? 800);
const SEED = Number(process.env['MUTANTS_SEED'] ?? 11);

const SCHEMAS = [KITCHEN_SINK, ...Object.values(starters).map(({ schema }) => schema)];
const MANIFESTS = [
  'name: shop\nserver: { port: 8080, cors: [] }\napi:\n  limits: { depth: 12, time: 10s }\n  rest: true\n',
  ...Object.values(starters).map(({ manifest }) => manifest('shop')),
  'name: shop\nauth:\n  jwt: { ttl: 24h }\n  rate_limits: { login-ip: 60/1m }\n  oauth: { providers: { acme: { preset: oidc, issuer: https://id.example.test } } }\nhosting: { defaults: { memory: 512MiB } }\n',
];
const PIECES = [
  '!',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  '@',
  '@unique',
  '@relation(inverse: "x")',
  '@auth(allow: [OWNER])',
  '@default(value: 3)',
  '"',
  '"""',
  '#',
  ':',
  '|',
  '&',
  '$',
  'type',
  'input',
  'extend',
  'Post',
  'Int',
  '- ',
  '\t',
  '\u0000',
  '\uFEFF',
  '🙂',
  '\r\n',
  '0',
  '-1',
  '1e999',
  'null',
  '*x',
  '&y',
  '<<',
  '__proto__',
  'constructor',
  '!!js/function',
];

describe('a broken schema or manifest', () => {
  test(`gives findings with place, code, a text and a fix, never a stack trace (${MUTANTS} mutants)`, async () => {
    const random = createRandom(SEED);
    let broken = 0;
    for (let at = 0; at < MUTANTS; at++) {
      const schema = {
        file: 'schema.graphql',
        text: random.chance(0.7) ? mutate(random.pick(SCHEMAS), random) : random.pick(SCHEMAS),
      };
      const manifest = {
        file: 'manifest.yaml',
        text: random.chance(0.5) ? mutate(random.pick(MANIFESTS), random) : random.pick(MANIFESTS),
      };
      const { project, diagnostics } = readProject({ schema: [schema], manifest });
      if (!project) broken++;
      else if (random.chance(0.1)) await renderAll(project);
      expect([
        at,
        project !== null || diagnostics.some(({ severity }) => severity === 'error'),
      ]).toEqual([at, true]);
      for (const finding of diagnostics) {
        const text = finding.at.file === manifest.file ? manifest.text : schema.text;
        expect([at, finding]).toEqual([
          at,
          expect.objectContaining({
            code: expect.stringMatching(/^[A-Z][A-Z0-9_]+$/),
            summary: expect.stringMatching(/\S/),
            ...(finding.severity !== 'hint' && { fix: expect.stringMatching(/\S/) }),
          }),
        ]);
        expect([
          at,
          finding.at.line >= 1 &&
            finding.at.line <= text.split(/\r\n|\r|\n/).length + 1 &&
            finding.at.column >= 1,
          finding.at,
        ]).toEqual([at, true, finding.at]);
        expect([finding.summary, finding.why, finding.fix].join(' ')).not.toMatch(
          /\n\s+at .*\(|TypeError|\bundefined\b|\[object/,
        );
        expect(formatFindings([finding], [schema, manifest], createPaint(false))[0]).toContain(
          finding.code,
        );
      }
    }
    expect(broken).toBeGreaterThan(MUTANTS / 4);
  }, 3_600_000);

  test('is one JSON document with --json', async () => {
    const random = createRandom(12);
    for (let at = 0; at < 6; at++) {
      const shop = makeProject({
        'schema.graphql': mutate(KITCHEN_SINK, random),
        'manifest.yaml': mutate(MANIFESTS[0]!, random),
      });
      const { stdout, stderr, code } = await generator(['generate', '--json'], shop.root);
      expect([0, 3]).toContain(code);
      expect(stderr).not.toMatch(/\n\s+at /);
      JSON.parse(stdout);
      shop.remove();
    }
  });
});

/** A schema that passes every rule can be rendered, however odd it is. */
async function renderAll(project: Project): Promise<void> {
  const sources: Sources = {
    root: '/',
    schema: [],
    manifest: null,
    userFiles: [],
    otherUserTexts: [],
    resolvers: [],
    migrations: [],
    lockedMigrations: [],
    scalars: null,
    packages: 'registry',
    problems: [],
  };
  const migration = planMigration(project, sources, {});
  await renderFiles(planFiles(project, { sources, migration, version: '0.0.0' }));
}

/** Something that a hand, an editor or a merge does to a text. */
function mutate(text: string, random: Random): string {
  let mutant = text;
  for (let times = 1 + random.whole(3); times > 0; times--) {
    const at = random.whole(mutant.length + 1);
    const to = Math.min(mutant.length, at + 1 + random.whole(12));
    mutant = random.pick([
      () => mutant.slice(0, at) + mutant.slice(to),
      () => mutant.slice(0, at) + random.pick(PIECES) + mutant.slice(at),
      () => mutant.slice(0, at) + random.pick(PIECES) + mutant.slice(to),
      () => mutant.slice(0, at),
      () => mutant.slice(0, at) + mutant.slice(at, to).repeat(3) + mutant.slice(to),
      () => swapWords(mutant, random),
      () => swapLines(mutant, random),
    ])();
  }
  return mutant;
}

function swapWords(text: string, random: Random): string {
  const words = text.match(/\w+/g) ?? [];
  if (words.length < 2) return text;
  return text.replace(random.pick(words), random.pick(words));
}

function swapLines(text: string, random: Random): string {
  const lines = text.split('\n');
  const [a, b] = [random.whole(lines.length), random.whole(lines.length)];
  [lines[a], lines[b]] = [lines[b]!, lines[a]!];
  return lines.join('\n');
}
