import type { Running } from './contender.ts';
import type { Contender } from './servers/index.ts';
import { HEADER, HEADER_VALUE, ORIGIN } from './shape.ts';
import type { Workload } from './workloads.ts';
import type { Credentials } from './credentials.ts';

/**
 * A server as users run it does all that the others do: its middleware and its CORS are seen in the answer, and it refuses
 * a request without a token, and one whose session was ended. @throws TypeError when it does not.
 */
export async function checkShape(
  server: Running,
  workload: Workload,
  { tokenOnly }: Contender,
  { ended }: Credentials,
): Promise<void> {
  const { headers } = await server.respond(workload, 0);
  const found: Readonly<Record<string, unknown>> = {
    [HEADER]: headers.get(HEADER),
    'access-control-allow-origin': headers.get('access-control-allow-origin'),
    'a request without a token': await judge(server, workload, null),
    'the token of an ended session': await judge(server, workload, ended),
  };
  const wanted = {
    [HEADER]: HEADER_VALUE,
    'access-control-allow-origin': ORIGIN,
    'a request without a token': 'refused',
    'the token of an ended session': tokenOnly ? 'answered' : 'refused',
  };
  for (const [what, value] of Object.entries(wanted))
    if (found[what] !== value)
      throw new TypeError(`${server.name}: ${what} is ${found[what]}, not ${value}`);
}

/** A refusal is an answer with errors: GraphQL over HTTP sends it with 200 or with 401. */
async function judge(
  server: Running,
  workload: Workload,
  token: string | null,
): Promise<'answered' | 'refused'> {
  const { errors } = (await (await server.respond(workload, 0, token)).json()) as {
    readonly errors?: readonly unknown[];
  };
  return errors ? 'refused' : 'answered';
}
