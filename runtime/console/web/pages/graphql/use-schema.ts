import { useEffect, useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { can } from '../../parts/can.ts';
import { graphqlPath } from '../../address.ts';

/**
 * The SDL of the server: by its route where the caller may ask it, which answers where introspection
 * is off too; else by introspection. Undefined where there is neither: the editor then completes
 * nothing.
 */
export function useSchema(): string | undefined {
  const [sdl, setSdl] = useState<string>();
  useEffect(() => {
    const read = can('system:read') ? bySchemaRoute() : byIntrospection();
    read.then(setSdl, () => {});
  }, []);
  return sdl;
}

const bySchemaRoute = async () => (await call<{ sdl: string }>('GET', '/api/system/schema')).sdl;

async function byIntrospection(): Promise<string> {
  const { introspectionQuery, sdlOf } = await import('./introspection.ts');
  const { data } = await call('POST', graphqlPath, { query: introspectionQuery });
  return sdlOf(data);
}
