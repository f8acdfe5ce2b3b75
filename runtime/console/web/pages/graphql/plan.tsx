import { t } from '../../messages.ts';
import { Failure } from '../../parts/failure.tsx';
import { Panel } from '../../parts/page.tsx';
import { sqlLines } from './sql-lines.ts';

/** The answer of `POST /api/system/explain`. */
export interface Explained {
  readonly statements: readonly {
    readonly path: readonly string[];
    readonly sql: string;
    readonly parameters: readonly unknown[];
    readonly plan: readonly string[];
  }[];
  readonly functions: readonly string[];
  readonly depth: number;
  readonly cost: number;
  readonly errors?: readonly { readonly message: string; readonly path?: readonly string[] }[];
}

/** The result of asking for a plan. */
export interface Planned {
  readonly loading: boolean;
  readonly error: string | null;
  readonly data: Explained | null;
}

interface PlanProps {
  readonly planned: Planned;
  again(): void;
}

/** The statements of an operation, and how the database would run each. */
export function Plan({ planned: { loading, error, data }, again }: PlanProps) {
  return (
    <Panel name={t('Plan')}>
      <div class="graphql-plan" aria-busy={loading}>
        {error !== null && <Failure error={error} again={again} />}
        {data && (
          <>
            <p role="status">{summaryOf(data)}</p>
            {data.functions.length > 0 && (
              <p>
                {t('Functions of the project that run:')} <code>{data.functions.join(', ')}</code>
              </p>
            )}
            {data.errors?.map(({ message, path = [] }) => (
              <p key={path.join('.')} role="alert">
                {path.join('.')}: {message}
              </p>
            ))}
            {data.statements.map((statement, index) => (
              <Statement key={index} {...statement} />
            ))}
          </>
        )}
      </div>
    </Panel>
  );
}

const summaryOf = ({ statements, depth, cost }: Explained): string =>
  t(
    statements.length === 1
      ? '1 statement, depth {depth}, cost {cost}'
      : '{n} statements, depth {depth}, cost {cost}',
    {
      n: statements.length,
      depth,
      cost,
    },
  );

function Statement({ path, sql, parameters, plan }: Explained['statements'][number]) {
  const name = path.join('.');
  return (
    <section class="graphql-statement" aria-label={t('Statement of {name}', { name })}>
      <h3>
        <code>{name}</code>
      </h3>
      {parameters.length > 0 && (
        <p>
          {t('Parameters:')} <code>{JSON.stringify(parameters)}</code>
        </p>
      )}
      <pre tabIndex={0} role="group" aria-label={t('SQL of {name}', { name })}>
        {sqlLines(sql)}
      </pre>
      {plan.length === 0 ? (
        <p class="quiet">{t('The database has no plan for this statement.')}</p>
      ) : (
        <pre tabIndex={0} role="group" aria-label={t('Plan of {name}', { name })}>
          {plan.join('\n')}
        </pre>
      )}
    </section>
  );
}
