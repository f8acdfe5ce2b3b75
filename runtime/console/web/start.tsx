import { render } from 'preact';
import { App } from './app.tsx';
import { takeProviderCode } from './parts/provider-links.tsx';
import { resume } from './session.ts';
import { enterByLink, takeCode } from './sign-in.ts';

export async function start(): Promise<void> {
  const code = takeCode();
  const first = code === null ? await takeProviderCode() : await enterByLink(code);
  await resume();
  render(<App first={first} />, document.getElementById('console')!);
}
