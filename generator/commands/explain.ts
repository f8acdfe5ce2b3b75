import { first, nearest } from '@twofold/schema';
import { resolve } from 'node:path';
import type { CommandCall } from '../cli/command.ts';
import type { Project } from '@twofold/schema';
import { type Deprecation, deprecationsOf } from '../explain/deprecations.ts';
import { answeredByCode, explainAll, type Explanation } from '../explain/facts.ts';
import { placeOf } from '../explain/place.ts';
import { ruleSentence } from '../explain/rules.ts';
import { readStatements, type Statements, type StatementsAnswer } from '../explain/statements.ts';
import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import { readProjectOf } from '../read-project.ts';
import { readTexts } from '../read.ts';
import { askProject } from '../run-project.ts';
import { hookNames } from '../user-hooks.ts';
import { writtenMembers } from '../written-members.ts';
import { reportBrokenInputs } from './outcome.ts';

const GENERATED = [
  'src/generated/model.ts',
  'src/generated/resolvers.ts',
  'src/generated/types.ts',
];

/** One field with all its facts. */
type Explained = Explanation &
  Partial<Statements> &
  Partial<Deprecation> & {
    readonly file: string | null;
    readonly hooks?: readonly string[];
    readonly rules?: readonly ExplainedRule[];
  };

/** One `@auth` as a sentence, and its condition as SQL; null when it only says who may. */
interface ExplainedRule {
  readonly says: string;
  readonly sqlite: string | null;
  readonly postgres: string | null;
}

/** `generator explain [Type[.field]]` */
export async function run(call: CommandCall): Promise<ExitCode> {
  const root = resolve(call.cwd);
  const reading = await readProjectOf(root);
  const { project } = reading;
  if (!project) return reportBrokenInputs(reading, call);
  const { userFiles } = reading.sources;
  const texts = await readTexts(root, [...GENERATED, ...userFiles]);
  const chosen = choose(explainAll(project), call.positionals[0]);
  const coordinates = chosen.map(({ coordinate }) => coordinate);
  const read = await readStatements(root, project, {
    coordinates,
    written: writtenMembers(reading.sources),
    ask: call.ask ?? askProject,
  });
  const deprecations = deprecationsOf(project, reading.sources, coordinates);
  const explanations: Explained[] = [];
  for (const each of chosen) {
    explanations.push({
      ...(read.isOwn(each.coordinate) ? answeredByCode(each) : each),
      file: await placeOf(each.coordinate, { texts, userFiles, project }),
      ...hooksOf(texts.get(`src/hooks/${each.coordinate}.ts`)),
      ...rulesOf(project, each.coordinate, read.rules),
      ...read.statements.get(each.coordinate),
      ...deprecations.get(each.coordinate),
    });
  }
  if (read.missing !== null) call.terminal.note(`  statements are left out: ${read.missing}`);
  if (call.terminal.json)
    call.terminal.document({ ok: true, database: read.database, explanations });
  else call.terminal.data(explanations.map((each) => print(each, call, read.database)).join('\n'));
  return EXIT.done;
}

/** The hooks in the file of an entity. */
function hooksOf(text: string | null): { hooks?: readonly string[] } {
  return text === null ? {} : { hooks: hookNames(text) };
}

function rulesOf(
  project: Project,
  coordinate: string,
  texts: StatementsAnswer['rules'],
): { rules?: readonly ExplainedRule[] } {
  const [type, name] = coordinate.split('.');
  const entity = project.entities.find((each) => each.name === type);
  const field = entity?.fields.find((each) => each.name === name);
  const rules = name === undefined ? entity?.rules : field?.rules;
  if (!entity || !rules?.length) return {};
  const text = (database: 'sqlite' | 'postgres', at: number) =>
    texts[database][coordinate]?.[at] ?? null;
  return {
    rules: rules.map((rule, at) => ({
      says: ruleSentence(project, entity, rule),
      sqlite: text('sqlite', at),
      postgres: text('postgres', at),
    })),
  };
}

/** Selects a type with its fields, one field, or everything. */
function choose(all: readonly Explanation[], name: string | undefined): readonly Explanation[] {
  if (name === undefined) return all;
  const chosen = all.filter(
    ({ coordinate }) => coordinate === name || coordinate.startsWith(`${name}.`),
  );
  if (chosen.length > 0) return chosen;
  const near = nearest(name, [
    ...new Set(all.flatMap(({ coordinate }) => [coordinate, first(coordinate.split('.'))])),
  ]);
  throw new CommandError('UNKNOWN_COORDINATE', {
    message: `the schema has no ${name}`,
    fix: near ? `did you mean ${near}?` : 'generator explain lists everything',
  });
}

function print(
  explained: Explained,
  { terminal }: CommandCall,
  database: 'sqlite' | 'postgres',
): string {
  const { coordinate, what, decidedBy, stored, operation, as } = explained;
  const { plan, statements, routes, file, hooks, rules = [], deprecated } = explained;
  const line = (name: string, text: string | null | undefined) =>
    text ? `  ${terminal.paint.dim(name.padEnd(9))}  ${text}\n` : '';
  const asked = operation && as !== 'anyone' ? `${operation}  (${as})` : operation;
  const below = '\n             ';
  const said = rules.flatMap(({ says, [database]: sql }) => [says, ...(sql ? [`  ${sql}`] : [])]);
  return [
    `${terminal.paint.bold(coordinate)}  ${what}\n`,
    line('outdated', deprecated),
    line('used by', usersOf(explained).join(below)),
    line('rule', decidedBy),
    line('stored', stored),
    line('file', file),
    line('hooks', hooks?.join(', ')),
    line('access', said.join(below)),
    line('asked by', asked),
    line('plan', plan?.replaceAll('\n', below)),
    line('statement', statements?.[database].join(below)),
    line('routes', routes?.join(below)),
  ].join('');
}

/** The documents that ask for a deprecated field, a line each. */
function usersOf({ deprecated, usedBy = [] }: Explained): string[] {
  if (deprecated === undefined) return [];
  if (usedBy.length === 0) return ['no document of the list'];
  return usedBy.map(
    ({ operation, at, retired }) => `${operation}${retired ? ' (retired)' : ''}  ${at}`,
  );
}
