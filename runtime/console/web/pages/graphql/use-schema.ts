import { useEffect, useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { can } from '../../parts/can.ts';
import { graphqlPath } from '../../address.ts';
import { headersIn } from './run.ts';

/** Milliseconds without a key in the headers after which the schema is asked for again. */
const PAUSE = 500;

/**
 * The SDL of the server: by its route where the caller may ask it, which answers where introspection
 * is off too; else by introspection, with the headers that were typed. Null where there is neither,
 * until other headers are typed: the editor then completes nothing.
 */
export function useSchema(headers: string): string | null | undefined {
  const [sdl, setSdl] = useState<string | null>();
  useEffect(() => {
    if (typeof sdl === 'string') return;
    const read = () => (can('system:read') ? bySchemaRoute() : byIntrospection(headers));
    const timer = setTimeout(
      () => read().then(setSdl, () => setSdl(null)),
      sdl === undefined ? 0 : PAUSE,
    );
    return () => clearTimeout(timer);
  }, [headers]);
  return sdl;
}

const bySchemaRoute = async () => (await call<{ sdl: string }>('GET', '/api/system/schema')).sdl;

async function byIntrospection(typed: string): Promise<string> {
  const { introspectionQuery, sdlOf } = await import('./introspection.ts');
  const headers = headersIn(typed);
  const { data } = await call('POST', graphqlPath, { query: introspectionQuery }, { headers });
  return sdlOf(data);
}
