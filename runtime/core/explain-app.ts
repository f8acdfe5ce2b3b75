import type { App } from './app.ts';
import { type BootOptions, resolversOf, rootOf, settingsIn } from './boot.ts';
import { createLogger } from './config/logger.ts';
import type { ruleTexts as RuleTexts } from './data/access/rule-text.ts';
import type { DryRun } from './graphql/dry-run.ts';
import type { Dialect } from './store/store.ts';

/** The statements of some operations, on each database. */
export interface ExplainedApp {
  /** The database that the settings name. */
  readonly database: Dialect;
  /** Coordinates of fields that the project's own resolvers answer. */
  readonly own: readonly string[];
  /** One entry for each operation, in order; null for one that cannot be explained. */
  readonly operations: readonly (Readonly<Record<Dialect, DryRun>> | null)[];
  /** The condition of each `@auth` by coordinate; null for one that only says who may. */
  readonly rules: Readonly<Record<Dialect, ReturnType<typeof RuleTexts>>>;
}

/**
 * The statements that a project's server runs for some operations, for `generator explain`. It
 * opens no database and calls no function of the project.
 *
 * @param documents GraphQL operations, with their values written in them.
 * @example (await explainApp(app, ['{ posts { id } }'])).operations[0]?.sqlite.statements
 */
export async function explainApp(
  app: App,
  documents: readonly string[],
  options: BootOptions = {},
): Promise<ExplainedApp> {
  const root = rootOf(app);
  const settings = settingsIn(root, options.env);
  const kernel = {
    project: app.project,
    settings,
    log: createLogger(settings, { destination: { write: () => {} } }),
    root,
  };
  const { createDryRun } = await import('./graphql/dry-run.ts');
  const { ruleTexts } = await import('./data/access/rule-text.ts');
  const dryRun = (dialect: Dialect) =>
    createDryRun({ kernel, dialect, resolvers: resolversOf(app), scalars: app.scalars ?? {} });
  const [sqlite, postgres] = [dryRun('sqlite'), dryRun('postgres')];
  const operations: (Record<Dialect, DryRun> | null)[] = [];
  for (const document of documents) {
    const both = [await sqlite(document), await postgres(document)] as const;
    operations.push(both[0] && both[1] && { sqlite: both[0], postgres: both[1] });
  }
  const own = Object.entries(resolversOf(app)).flatMap(([type, fields]) =>
    Object.keys(fields).map((name) => `${type}.${name}`),
  );
  return {
    own,
    database: /^postgres(ql)?:/.test(settings.text('DATABASE_URL', '')) ? 'postgres' : 'sqlite',
    operations,
    rules: {
      sqlite: ruleTexts(app.project, 'sqlite'),
      postgres: ruleTexts(app.project, 'postgres'),
    },
  };
}
