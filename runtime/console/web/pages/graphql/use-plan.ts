import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import type { Explained, Planned } from './plan.tsx';
import { askedOf, type Typed } from './typed.ts';
import { reasonOf } from './use-run.ts';

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
