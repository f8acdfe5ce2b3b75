import { render } from 'preact';
import { App } from './app.tsx';
import { takeProviderCode } from './parts/provider-links.tsx';
import { resume, signIn } from './session.ts';
import { takeCode } from './sign-in.ts';

const code = takeCode();
const first = code === null ? await takeProviderCode() : await signIn('/api/auth/login', { code });
await resume();
render(<App first={first} />, document.getElementById('console')!);
