import { databaseCodes } from './database-codes.ts';
import type { ErrorCode } from './error-code.ts';
import { errorCodes } from './error-codes.ts';
import { hostingCodes } from './hosting-codes.ts';
import { table } from './table.ts';

/** Codes of errors with cause and cure. */
export function errorsReference(): string {
  return `# Errors

Two kinds of codes exist. A code of a **finding** comes from the generator, at build time: [findings](/files/findings) lists each with its cure.
A code of an **answer** comes from a running server: in GraphQL it is \`extensions.code\` of the error, in REST the status says the same.

An answer never has text of the database or of an error in your code. What is not in this table is masked as
\`INTERNAL_SERVER_ERROR\` and logged with the id of the request, which the caller gets in \`X-Request-Id\`.

## Codes of answers

${tableOf(errorCodes)}

## The database

These come from \`npm run migrate\`, \`npm run generator -- db\`, the start of a server, and transactions in code of yours.

${tableOf(databaseCodes)}

## Hosting and models

${tableOf(hostingCodes)}
`;
}

const tableOf = (codes: readonly ErrorCode[]) =>
  table(
    ['Code', 'Status', 'Cause', 'Cure'],
    codes.map(({ code, status, cause, cure }) => [`\`${code}\``, String(status), cause, cure]),
  );
