import { render } from 'preact';
import { App } from './app.tsx';
import { carryWith } from './call.ts';
import { watchConnection } from './parts/connection.ts';
import { takeProviderCode } from './parts/provider-links.tsx';
import { freshToken, renewOrAsk, resume } from './session.ts';
import { enterByLink, takeCode } from './sign-in.ts';

export async function start(): Promise<void> {
  carryWith({ credentials: 'omit', token: freshToken, renew: renewOrAsk });
  watchConnection();
  const code = takeCode();
  const first = code === null ? await takeProviderCode() : await enterByLink(code);
  await resume();
  render(<App first={first} />, document.getElementById('console')!);
}
