import type { Project } from '@twofold/schema';
import { CommandError } from '../failure.ts';
import type { AskProject } from '../run-project.ts';
import type { IsUserField } from './facts.ts';
import { exampleOperations } from './example-operation.ts';

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
  /** The functions found in the user's files. */
  readonly written: ReadonlySet<string>;
  readonly ask: AskProject;
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
  const { written } = asked;
  const examples = examplesOf(project, asked, written);
  const explained = await explainApp(root, examples, asked);
  if ('failed' in explained)
    return {
      isOwn: (coordinate) => written.has(coordinate),
      database: 'sqlite',
      missing: explained.failed,
      statements: new Map(),
      rules: NO_RULES,
    };
  // Plugins answer fields too. Which ones is known only when the project's code runs.
  const all = new Set(explained.own);
  const others = examplesOf(project, asked, all);
  const known = new Set(examples.map(({ operation }) => operation));
  const again = others.every(({ operation }) => known.has(operation))
    ? explained
    : await explainApp(root, others, asked);
  const shown = new Set(others.map(({ coordinate }) => coordinate));
  return {
    isOwn: (coordinate) => all.has(coordinate),
    database: explained.database,
    missing: null,
    statements: new Map(
      'failed' in again ? [] : [...again.statements].filter(([name]) => shown.has(name)),
    ),
    rules: explained.rules ?? NO_RULES,
  };
}

interface Failed {
  readonly failed: string;
}

/** A field, and an operation that selects it. */
interface Example {
  readonly coordinate: string;
  readonly operation: string;
}

function examplesOf(
  project: Project,
  { coordinates }: StatementsQuestion,
  own: ReadonlySet<string>,
): readonly Example[] {
  const exampleOf = exampleOperations(project, (coordinate) => own.has(coordinate));
  return coordinates.flatMap((coordinate) => {
    const operation = coordinate.includes('.') ? exampleOf(coordinate) : null;
    return operation === null ? [] : [{ coordinate, operation }];
  });
}

async function explainApp(
  root: string,
  examples: readonly Example[],
  { ask }: StatementsQuestion,
): Promise<(AppExplanation & Pick<StatementsAnswer, 'statements'>) | Failed> {
  const input = examples.map(({ operation }) => operation);
  try {
    const answer = await ask<AppExplanation>(root, 'explainApp', { input });
    const statements = examples.flatMap(({ coordinate, operation }, index) => {
      const of = answer.operations[index];
      return of ? [[coordinate, statementsOf(operation, of)] as const] : [];
    });
    return { ...answer, statements: new Map(statements) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { failed: error.fix ?? error.message.split('\n').at(-1) ?? '' };
  }
}

const statementsOf = (
  operation: string,
  { sqlite, postgres }: NonNullable<AppExplanation['operations'][number]>,
): Statements => ({
  operation,
  as: sqlite.as,
  plan: sqlite.plan,
  statements: { sqlite: sqlite.statements, postgres: postgres.statements },
});
