import { code, file, local, packaged } from '../code.ts';
import { HEADER } from '../owned/header.ts';

/** `src/generated/admin.ts`: the script of `npm run admin`, which the production image includes. */
export function renderAdmin(): string {
  return file(
    HEADER,
    code`
      await ${packaged('@twofold/auth', 'runAdmin')}(${local('./app.ts', 'app')});
    `,
  );
}
