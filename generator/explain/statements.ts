import type { Project } from '@twofold/schema';
import { memberNames } from '../edit/insert-member.ts';
import { CommandError } from '../failure.ts';
import { askProject } from '../run-project.ts';
import type { IsUserField } from './facts.ts';
import type { ProjectTexts } from './place.ts';

/** How one field is served. */
export interface Statements {
  /** An operation that selects the field. */
  readonly operation: string;
  /** The role that may read the field: `anyone`, `a signed-in user`, …. */
  readonly as: string;
  /** The source of each member of the response. */
  readonly plan: string;
  /** The SQL that the server runs for the field, by database. */
  readonly statements: Readonly<Record<Database, readonly string[]>>;
}

type Database = 'sqlite' | 'postgres';

/** The answer of the project's own runtime about some fields. */
export interface StatementsAnswer {
  readonly isOwn: IsUserField;
  readonly database: Database;
  /** Why there are no statements, and what to do. */
  readonly missing: string | null;
  /**
   * By coordinate. Fields with a function of the user, and fields that no operation reaches, have
   * none.
   */
  readonly statements: ReadonlyMap<string, Statements>;
  /** The condition of each `@auth`, by coordinate. */
  readonly rules: RuleTexts;
}

/** By database and coordinate; null for a rule that only says who may. */
type RuleTexts = Readonly<Record<Database, Readonly<Record<string, readonly (string | null)[]>>>>;

const NO_RULES: RuleTexts = { sqlite: {}, postgres: {} };

export interface StatementsQuestion {
  readonly coordinates: readonly string[];
  readonly texts: ProjectTexts;
  readonly userFiles: readonly string[];
}

/** The answer of `explainApp`. */
interface AppExplanation {
  readonly database: Database;
  readonly own: readonly string[];
  /** Absent in runtimes of versions that do not report rules. */
  readonly rules?: RuleTexts;
  readonly operations: readonly (Readonly<
    Record<
      Database,
      { readonly as: string; readonly plan: string; readonly statements: readonly string[] }
    >
  > | null)[];
}

/**
 * Statements as the project's own runtime makes them. If the runtime cannot be started, only the
 * functions found in the user's files.
 */
export async function readStatements(
  root: string,
  project: Project,
  asked: StatementsQuestion,
): Promise<StatementsAnswer> {
  const own = await ownMembers(asked);
  const explained = await explainApp(root, project, asked, own);
  if ('failed' in explained)
    return {
      isOwn: (coordinate) => own.has(coordinate),
      database: 'sqlite',
      missing: explained.failed,
      statements: new Map(),
      rules: NO_RULES,
    };
  // Plugins answer fields too. Which ones is known only when the project's code runs.
  const all = new Set(explained.own);
  const again = [...all].some((coordinate) => !own.has(coordinate))
    ? await explainApp(root, project, asked, all)
    : explained;
  return {
    isOwn: (coordinate) => all.has(coordinate),
    database: explained.database,
    missing: null,
    statements: 'failed' in again ? new Map() : again.statements,
    rules: explained.rules,
  };
}

interface Failed {
  readonly failed: string;
}

async function explainApp(
  root: string,
  project: Project,
  { coordinates }: StatementsQuestion,
  own: ReadonlySet<string>,
): Promise<
  | (Pick<StatementsAnswer, 'statements' | 'database' | 'rules'> & {
      readonly own: readonly string[];
    })
  | Failed
> {
  const { exampleOperations } = await import('./example-operation.ts');
  const exampleOf = exampleOperations(project, (coordinate) => own.has(coordinate));
  const examples = coordinates.flatMap((coordinate) => {
    const operation = coordinate.includes('.') ? exampleOf(coordinate) : null;
    return operation === null ? [] : [{ coordinate, operation }];
  });
  const answer = await ask(
    root,
    examples.map(({ operation }) => operation),
  );
  if ('failed' in answer) return answer;
  const statements = examples.flatMap(({ coordinate, operation }, index) => {
    const of = answer.operations[index];
    return of
      ? [
          [
            coordinate,
            {
              operation,
              as: of.sqlite.as,
              plan: of.sqlite.plan,
              statements: { sqlite: of.sqlite.statements, postgres: of.postgres.statements },
            },
          ] as const,
        ]
      : [];
  });
  const { own: written, database, rules = NO_RULES } = answer;
  return { own: written, database, rules, statements: new Map(statements) };
}

async function ask(root: string, documents: readonly string[]): Promise<AppExplanation | Failed> {
  try {
    return await askProject<AppExplanation>(root, 'explainApp', { input: documents });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { failed: error.fix ?? error.message.split('\n').at(-1) ?? '' };
  }
}

/** Members of `src/resolvers/*.ts`, as far as they can be read. */
async function ownMembers({ texts, userFiles }: StatementsQuestion): Promise<ReadonlySet<string>> {
  const own = new Set<string>();
  for (const path of userFiles) {
    const type = /^src\/resolvers\/(\w+)\.ts$/.exec(path)?.[1];
    const names = type === undefined ? null : await memberNames(texts.get(path) ?? '');
    for (const name of names ?? []) own.add(`${type}.${name}`);
  }
  return own;
}
