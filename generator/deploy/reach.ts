import { request as plain } from 'node:http';
import { request as secure } from 'node:https';
import { CommandError } from '../failure.ts';
import { reasonOf } from './hosting-server.ts';

/**
 * How an app was reached: by its own name, or by the hosting server's address if the name does not
 * resolve here.
 */
export type Reached = 'name' | 'address';

const TIMEOUT = 15_000;

/**
 * Requests the app as its users will: by its domain. If the name does not resolve on this machine,
 * the request goes to the hosting server's address.
 *
 * @throws CommandError when neither answers, or the ingress answers in the app's place.
 */
export async function reachApp(
  app: { readonly url: string; readonly name: string },
  { server, path }: { readonly server: string; readonly path: string },
): Promise<Reached> {
  const target = new URL(path, app.url);
  const direct = await ask(target, target.hostname).catch((error: unknown) => reasonOf(error));
  if (typeof direct === 'number' && direct < 400) return 'name';
  // Browsers resolve every name below localhost to this machine (RFC 6761); system resolvers often
  // do not.
  const around = await ask(target, new URL(server).hostname).catch((error: unknown) =>
    reasonOf(error),
  );
  if (typeof around === 'number' && around < 400)
    return target.hostname.endsWith('.localhost') ? 'name' : 'address';
  const why = typeof direct === 'number' ? `it answers ${direct}` : direct;
  throw new CommandError('APP_NOT_REACHED', {
    message: `${app.name} runs, but ${target.href} does not answer: ${why}`,
    fix: `point ${target.hostname} at the hosting server, and let its port ${target.port || target.protocol} through`,
  });
}

/** The status of a GET for the URL, sent to this host. */
function ask(url: URL, host: string): Promise<number> {
  const options = {
    host: host.replace(/^\[|\]$/g, ''),
    port: url.port || undefined,
    path: url.pathname,
    headers: { Host: url.host },
    servername: url.hostname,
    timeout: TIMEOUT,
  };
  return new Promise((resolve, reject) => {
    const sent = (url.protocol === 'https:' ? secure : plain)(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('timeout', () =>
      sent.destroy(
        Object.assign(new Error(`no answer in ${TIMEOUT / 1000} s`), { code: 'ETIMEDOUT' }),
      ),
    );
    sent.on('error', reject).end();
  });
}
