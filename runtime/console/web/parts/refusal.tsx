/** Shows the text of a refusal. */
export const Refusal = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p role="alert" class="refusal">
      {text}
    </p>
  );
