import { clientRequests } from './client-requests.ts';
import { clientSessions } from './client-sessions.ts';
import { clientTypes } from './client-types.ts';
import type { FrontEnd } from './operation.ts';

/** `client.ts`: the fetch client, without a package. */
export function clientFile(given: Pick<FrontEnd, 'send' | 'server' | 'ending'>): string {
  const { send, server, ending } = given;
  const names = [...(send === 'text' ? [] : ['hashIn']), 'nameOf', 'textOf', 'type TypedDocument'];
  return [
    `import { ${names.join(', ')} } from './typed-document${ending}';\n\n`,
    clientTypes(server),
    '\n',
    clientRequests({ send, server }),
    clientSessions(server) && `\n${clientSessions(server)}`,
  ]
    .join('')
    .trimEnd()
    .concat('\n');
}
