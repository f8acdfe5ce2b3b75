import { render } from 'preact';
import { App } from './app.tsx';
import { takeCode } from './sign-in.ts';
import { resume } from './session.ts';

const code = takeCode();
const refused = await resume(code);
render(<App refused={refused} />, document.getElementById('console')!);
