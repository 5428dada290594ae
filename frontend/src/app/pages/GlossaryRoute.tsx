/** /glossary: what the words of iotide mean. */

import { t } from "@lingui/core/macro";
import { TextInput } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { DocsLink } from "@/components/links";
import { Page, Section } from "@/components/Page";
import { Row, ScrollTable } from "@/components/ScrollTable";
import { GLOSSARY, type GlossaryWord } from "@/lib/glossary";

const route = getRouteApi("/shell/glossary");

export default function GlossaryRoute() {
  const { word = "" } = route.useSearch();
  const navigate = route.useNavigate();
  const found = matching(word);
  const titles = [...new Set(found.map(({ title }) => title))];
  return (
    <Page title={t`Glossary`}>
      <p>
        <DocsLink>{t`Documentation`}</DocsLink>
      </p>
      <TextInput
        label={t`Find a word`}
        maw={320}
        maxLength={100}
        onChange={({ currentTarget: { value } }) =>
          void navigate({ search: { word: value || undefined }, replace: true })
        }
        type="search"
        value={word}
      />
      {titles.length === 0 && <p>{t`No such word.`}</p>}
      {titles.map((title) => (
        <Section key={title} title={title}>
          <ScrollTable head={[t`Word`, t`Meaning`]} label={title}>
            {found
              .filter((one) => one.title === title)
              .map((one) => (
                <Row key={one.word}>
                  <td className="iotide-wrap iotide-strong">{one.word}</td>
                  <td className="iotide-wrap">{one.meaning}</td>
                </Row>
              ))}
          </ScrollTable>
        </Section>
      ))}
    </Page>
  );
}

/** Words that contain the text; if none does, those whose meaning does. */
function matching(text: string): GlossaryWord[] {
  const wanted = text.trim().toLowerCase();
  const named = GLOSSARY.filter(({ word }) => word.toLowerCase().includes(wanted));
  return named.length > 0 ? named : GLOSSARY.filter(({ meaning }) => meaning.toLowerCase().includes(wanted));
}
