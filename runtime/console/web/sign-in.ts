import { t } from './messages.ts';
import { signIn, type SignInAnswer } from './session.ts';

/** The code of a link to the console, `#code=…`; it is taken out of the address at once. */
export function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

/** Signs in with the code of a link. */
export async function enterByLink(code: string): Promise<SignInAnswer> {
  const answer = await signIn('/api/auth/login', { code });
  if (!('refused' in answer) || answer.refused !== SPENT) return answer;
  return {
    refused: t(
      'This link was used, or is older than ten minutes. For another, run: npx generator console',
    ),
  };
}

/** What the server answers to a code that it does not know any more. */
const SPENT = 'Invalid or expired token';
