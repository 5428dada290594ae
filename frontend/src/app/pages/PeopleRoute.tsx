/** /settings/people */

import { useQuery } from "@tanstack/react-query";
import { PeoplePage } from "@/features/accounts/PeoplePage";
import { clustersQuery } from "@/features/clusters/queries";

export default function PeopleRoute() {
  const { data: clusters = [] } = useQuery(clustersQuery);
  return <PeoplePage clusters={clusters} />;
}
