import { render } from 'preact';
import { App } from './app.tsx';
import { carryWith } from './call.ts';
import { watchConnection } from './parts/connection.ts';
import { takeProviderCode } from './parts/provider-links.tsx';
import { freshToken, renewOrAsk, resume, signIn, type SignInAnswer } from './session.ts';
import { t } from './messages.ts';

export async function start(): Promise<void> {
  carryWith({ credentials: 'omit', token: freshToken, renew: renewOrAsk });
  watchConnection();
  const code = takeCode();
  const first = code === null ? await takeProviderCode() : await enterByLink(code);
  await resume();
  render(<App first={first} />, document.getElementById('console') ?? document.body);
}

/** The code of a link to the console, `#code=…`. It is removed from the address at once. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

/** Signs in with the code of a link. */
async function enterByLink(code: string): Promise<SignInAnswer> {
  const answer = await signIn('/api/auth/login', { code });
  if (!('refused' in answer) || answer.error !== SPENT) return answer;
  return {
    ...answer,
    refused: t(
      'This link was used, or is older than ten minutes. For another, run: npx generator console',
    ),
  };
}

/** The server's error for a code that is used up or unknown. */
const SPENT = 'Invalid or expired token';
