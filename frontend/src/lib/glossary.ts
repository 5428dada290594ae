/** The words of GLOSSARY.md; `./dev generate` writes them. */

import words from "./glossary.json";

export interface GlossaryWord {
  /** Of the part of the glossary. */
  readonly title: string;
  readonly word: string;
  readonly meaning: string;
}

export const GLOSSARY: readonly GlossaryWord[] = words;
