import { code, file, local, runtime } from '../code.ts';
import { HEADER } from './header.ts';

/** `src/generated/admin.ts`: what `npm run admin` runs, in the production image too. */
export function renderAdmin(): string {
  return file(
    HEADER,
    code`
      await ${runtime('runAdmin')}(${local('./app.ts', 'app')});
    `,
  );
}
