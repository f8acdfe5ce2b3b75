import type { Explained } from '../../../flows/server.ts';
import { t } from '../../messages.ts';
import { sqlLines } from './lines.ts';
import { Failure, Panel } from '../../parts/page.tsx';
import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { askedOf, type Typed } from './typed.ts';
import { reasonOf } from './use-run.ts';

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

/** Whose rules apply: those of the caller, of the public, or of a user by their id. */
export type ExplainedAs =
  | { readonly kind: 'me' | 'public' }
  | { readonly kind: 'user'; readonly id: string };

/** Asks for the plan of an operation. */
export function usePlan(): {
  readonly planned: Planned | null;
  explain(typed: Typed, as: ExplainedAs): void;
} {
  const [planned, setPlanned] = useState<Planned | null>(null);
  const explain = (typed: Typed, as: ExplainedAs) => {
    setPlanned((last) => ({ loading: true, error: null, data: last?.data ?? null }));
    ask(typed, as).then(
      (data) => setPlanned({ loading: false, error: null, data }),
      (error: unknown) => setPlanned({ loading: false, error: reasonOf(error), data: null }),
    );
  };
  return { planned, explain };
}

const ask = async (typed: Typed, as: ExplainedAs): Promise<Explained> =>
  call('POST', '/api/system/explain', {
    ...askedOf(typed),
    ...(as.kind === 'public' && { as: 'public' }),
    ...(as.kind === 'user' && { as: { user_id: as.id } }),
  });
