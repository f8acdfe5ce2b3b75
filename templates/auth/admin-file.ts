import { code, file, local, packaged } from '../code.ts';
import { HEADER } from '../owned/header.ts';

/** `src/generated/admin.ts`: what `npm run admin` runs, in the production image too. */
export function renderAdmin(): string {
  return file(
    HEADER,
    code`
      await ${packaged('@twofold/auth', 'runAdmin')}(${local('./app.ts', 'app')});
    `,
  );
}
